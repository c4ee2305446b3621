import { type CallHandler, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { firstValueFrom, from, type Observable, tap } from 'rxjs';
import { actionOf, targetOf } from '../audit/action.js';
import { recordAct } from '../audit/record.js';
import { senderOf } from '../audit/sender.js';
import { holdMembership, refuseStranger } from '../auth/held-membership.js';
import { authOf } from '../auth/auth.decorator.js';
import { ApiError } from '../../platform/http/api-error.js';
import { type EndpointContract, locationOf } from '../../platform/http/endpoint.js';
import { EndpointExplorer, type Route } from '../../platform/http/endpoint-explorer.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { canonicalPath, headerValues } from '../../platform/http/request.js';
import { setUnitOfWork } from '../../platform/http/tx.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { type Span, Tracing } from '../../platform/tracing/tracing.js';
import { WriteTransactions } from '../../platform/http/write.interceptor.js';
import { InFlight } from './in-flight.js';
import { type Answer, fingerprintOf, type KeyedRequest, readIdempotencyKey } from './keyed-request.js';
import { performOnce } from './stored-request.js';

/**
 * Opens the one transaction of a writing request, claims its Idempotency-Key in it, puts the act on record, commits, and only then
 * lets the answer go. Answering first was tried: 18 of 257 answers were of work that a crash undid.
 */
@Injectable()
export class UnitOfWorkInterceptor extends WriteTransactions {
  constructor(
    private readonly transactions: Transactions,
    private readonly endpoints: EndpointExplorer,
    private readonly inFlight: InFlight,
    private readonly tracing: Tracing,
    private readonly turns: RequestSlots,
  ) {
    super();
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const route = this.endpoints.of(context.getHandler());
    const { contract } = route;
    const res = context.switchToHttp().getResponse<Response>();
    if (contract.transaction !== true) return next.handle().pipe(tap((value) => locate(contract, res, value)));
    return from(this.write(route, context.switchToHttp().getRequest(), res, next));
  }

  /** Resolves with the text of the answer. */
  private async write(route: Route, req: Request, res: Response, next: CallHandler): Promise<string> {
    const { contract } = route;
    if (contract.rehearsal !== undefined && bodyOf(req)[contract.rehearsal] === true) {
      res.status(200).type('application/json');
      setUnitOfWork(req, null);
      return (await handle(contract, res, next)).body;
    }
    const perform = async (tx: UnitOfWork) => {
      const answer = await handle(contract, res, next);
      // Of a change all names are known by now: another one was refused.
      const fields = req.method === 'PATCH' ? Object.keys(bodyOf(req)) : null;
      await recordAct(tx, senderOf(req), actionOf(route), targetOf(route, req.params, answer.location), fields);
      return answer;
    };
    const keyed = keyedRequest(contract, req);
    const answer =
      keyed === undefined
        ? await this.commit(contract, req, res, perform)
        : await this.inFlight.once(keyed, () =>
            this.commit(contract, req, res, (tx) => performOnce(tx, keyed, () => perform(tx))),
          );
    if (answer.replayed) res.setHeader('Idempotent-Replayed', 'true');
    if (answer.location !== null) res.setHeader('Location', answer.location);
    res.type('application/json');
    return answer.body;
  }

  /** One transaction around `work`, in a turn of the workspace; resolves after its commit. */
  private commit(
    contract: EndpointContract,
    req: Request,
    res: Response,
    work: (tx: UnitOfWork) => Promise<Answer>,
  ): Promise<Answer> {
    return this.turns.write(req, res, () => this.transaction(contract, req, work));
  }

  private transaction(
    { locksMembers }: EndpointContract,
    req: Request,
    work: (tx: UnitOfWork) => Promise<Answer>,
  ): Promise<Answer> {
    const span = this.tracing.begin('transaction', { parent: notesOf(req).span?.traceparent });
    const committed = this.transactions
      .open(async (tx) => {
        if (span !== undefined) tx.traceparent = span.traceparent;
        setUnitOfWork(req, tx);
        if (locksMembers !== true) await holdMembership(tx, authOf(req));
        return work(tx);
      })
      .catch(refuseStranger);
    return span === undefined ? committed : spanned(committed, span);
  }
}

/** Ends the span with the transaction. A refusal is no failure. */
function spanned(committed: Promise<Answer>, span: Span): Promise<Answer> {
  return committed.then(
    (answer) => {
      span.end({ 'millwright.replayed': answer.replayed });
      return answer;
    },
    (error: unknown) => {
      span.end({ 'millwright.rolled_back': true }, error instanceof ApiError ? undefined : nameOf(error));
      throw error;
    },
  );
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'unknown');

/** Runs the pipe and the handler. The status is the route's: Nest has set it before the interceptors. */
async function handle(contract: EndpointContract, res: Response, next: CallHandler): Promise<Answer> {
  const value = await firstValueFrom<unknown>(next.handle());
  locate(contract, res, value);
  const location = res.getHeader('Location');
  return {
    status: res.statusCode,
    body: JSON.stringify(value),
    location: location === undefined ? null : String(location),
    replayed: false,
  };
}

const bodyOf = (req: Request) => (req.body ?? {}) as Record<string, unknown>;

function locate(contract: EndpointContract, res: Response, value: unknown): void {
  if (contract.location !== undefined && res.statusCode === 201)
    res.setHeader('Location', locationOf(contract.location, value, res.req.params));
}

function keyedRequest(contract: EndpointContract, req: Request): KeyedRequest | undefined {
  if (contract.idempotency === undefined) return undefined;
  const key = readIdempotencyKey(headerValues(req, 'idempotency-key'), contract.idempotency === 'required');
  if (key === undefined) return undefined;
  const { workspaceId, userId } = authOf(req);
  const path = canonicalPath(req.path);
  return { workspaceId, userId, method: req.method, path, key, fingerprint: fingerprintOf(req.body) };
}
