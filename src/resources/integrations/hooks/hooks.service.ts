import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Charge, rateLimited } from '../../../access/rate-limit/rate-limit-headers.js';
import { RateLimiter } from '../../../access/rate-limit/rate-limiter.js';
import { isUuid, newId } from '../../../platform/database/ids.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { networkOf } from '../../../platform/http/network.js';
import { HOOKS } from '../../../platform/fairness/shares.js';
import { KeyedSemaphore } from '../../../platform/fairness/keyed-semaphore.js';
import { JobQueue } from '../../../platform/jobs/job-queue.js';
import { shown } from '../../../platform/text/names.js';
import { matchesTrigger } from '../catalogue/matches-trigger.js';
import type { Verdict } from '../hook-delivery.entity.js';
import { HookBodyError, HookThread } from '../hook-thread.js';
import type { HookRequest, Parsed } from '../integration-provider.js';
import { HookBodies } from './hook-bodies.js';
import { ACCEPT, HOLD } from './hook-deliveries.sql.js';
import { HookLog } from './hook-log.js';
import { HookVerifier, type Sender } from './hook-verifier.js';

/** An object is sent as JSON, a text as it is. */
export interface HookAnswer {
  status: number;
  body: object | string;
}

type HookEvent = Extract<Parsed, { type: 'event' }>;

/** The queue whose jobs begin the runs of a delivery. */
const QUEUE = 'automation';
const TAKEN: HookAnswer = { status: 200, body: { accepted: true } };
const DUPLICATE: HookAnswer = { status: 200, body: { duplicate: true } };
/** Bytes of payloads of one connection that wait for a worker: without a bound one tenant fills the disk of all. */
const WAITING_BYTES = 256 * 1024 * 1024;
/** Bytes of a body that is read from every sender. */
const SHORT = 64 * 1024;
/** Milliseconds that a longer one waits for those of its address that arrive. */
const PATIENCE_MS = 30_000;
/** Characters of what a provider calls a thing. */
const WORDS = 200;

/** Takes what providers deliver (reference §13): once each, with the work that follows from it in the same transaction. */
@Injectable()
export class HooksService {
  private readonly arriving = new KeyedSemaphore(HOOKS.longOfAddress);

  constructor(
    private readonly bodies: HookBodies,
    private readonly verifier: HookVerifier,
    private readonly limiter: RateLimiter,
    private readonly thread: HookThread,
    private readonly transactions: Transactions,
    private readonly jobs: JobQueue,
    private readonly log: HookLog,
  ) {}

  /** Throws 401 for all that is not signed for a connection that exists, always with the same words. */
  async receive(id: string, req: Request): Promise<HookAnswer> {
    if (!isUuid(id)) throw refused();
    const receivedAt = new Date();
    const connectionId = id.toLowerCase();
    const address = networkOf(req.ip ?? '');
    // A long body costs as much as 1,000 short ones before its signature is known. An address with a refused delivery in this minute
    // has two at once, and one with too many has none read. Short ones are: it keeps out nobody behind the same address.
    const long = !(Number(req.headers['content-length']) <= SHORT);
    const charge = this.limiter.lookAtRefusedHook(connectionId, address);
    if (long && !charge.allowed) throw this.limited(null, charge);
    const slowed = long && isUsed(charge);
    const arriving = slowed
      ? await this.arriving.acquire(address, AbortSignal.timeout(PATIENCE_MS)).catch(waits)
      : null;
    return this.bodies
      .hold(connectionId, req, (body) => this.take(connectionId, address, { headers: req.headers, body, receivedAt }))
      .finally(arriving);
  }

  private limited(sender: Sender | null, charge: Charge): ApiError {
    this.log.count(sender?.slug ?? null, 'rate_limited');
    return rateLimited('deliveries to this address', charge);
  }

  private async take(connectionId: string, address: string, request: HookRequest): Promise<HookAnswer> {
    const sender = await this.verifier.senderOf(connectionId, request);
    // After the signature, so that others cannot use up what a provider may send.
    const charge =
      sender === null
        ? await this.limiter.chargeRefusedHook(connectionId, address)
        : await this.limiter.chargeHook(connectionId);
    if (!charge.allowed) throw this.limited(sender, charge);
    if (sender === null) throw refused();
    const { sha256, payload } = await this.read(sender, request);
    const parsed = sender.provider.parseEvent(request.headers, payload);
    if (parsed.type === 'event') return this.accept(sender, parsed, sha256, request.body);
    if (parsed.type === 'malformed') throw this.malformed(sender, parsed.fault);
    this.log.note('handshake', sender);
    return parsed.answer;
  }

  private async read(sender: Sender, { headers, body }: HookRequest) {
    try {
      return await this.thread.read(body, sender.workspaceId);
    } catch (error) {
      if (!(error instanceof HookBodyError)) throw error;
      throw this.malformed(sender, isForm(headers) ? formFault(sender) : error.message);
    }
  }

  private malformed(sender: Sender, fault: string): ApiError {
    this.log.note('malformed', sender);
    return new ApiError('invalid_body', fault);
  }

  private async accept(sender: Sender, parsed: HookEvent, sha256: string, body: Buffer): Promise<HookAnswer> {
    const { connectionId, slug, provider } = sender;
    const { signsId } = provider.describe();
    const entry = {
      connectionId,
      dedupeKey: signsId && parsed.deliveryId !== null ? keyOf(parsed.deliveryId) : sha256,
      event: inWords(`${slug}.${parsed.event}`),
      deliveryId: parsed.deliveryId === null ? null : inWords(parsed.deliveryId),
    };
    const verdict = await this.transactions.open(async (tx): Promise<Verdict> => {
      const [held] = await tx.run(HOLD({ connectionId }));
      // Disconnected since its signature was looked at.
      if (held === undefined) throw refused();
      const wanted = held.triggers.some((pattern) => matchesTrigger(pattern, slug, parsed.event));
      const id = newId();
      const taken: Verdict = wanted ? 'accepted' : 'no_automation';
      if (wanted && held.waitingBytes + body.length > WAITING_BYTES) throw tooMuchWaits();
      const inserted = await tx.run(ACCEPT({ ...entry, id, verdict: taken, payload: wanted ? body : null }));
      if (inserted.length === 0) return 'duplicate';
      if (wanted) await this.jobs.add(tx, QUEUE, { deliveryId: id }, { workspaceId: sender.workspaceId });
      return taken;
    });
    if (verdict !== 'duplicate') {
      this.log.count(slug, verdict);
      return TAKEN;
    }
    this.log.note('duplicate', { ...sender, event: entry.event, deliveryId: entry.deliveryId });
    return DUPLICATE;
  }
}

const FORM = 'application/x-www-form-urlencoded';

function isForm(headers: HookRequest['headers']): boolean {
  return (headers['content-type'] ?? '').toLowerCase().startsWith(FORM);
}

function formFault({ provider }: Sender): string {
  const { name, form = 'Set the sender to JSON (application/json).' } = provider.describe();
  return `${name} sent this delivery as a form (${FORM}), and JSON is expected. ${form}`;
}

/** The provider sends it again, or its owner does. */
function tooMuchWaits(): ApiError {
  return new ApiError('unavailable', '256 MiB of deliveries to this address wait for their runs; send it again later.');
}

/** Whether the bucket has given anything but what this look would take. */
function isUsed({ buckets, backlogs }: Charge): boolean {
  return buckets.some(({ interval }, i) => (backlogs[i] ?? 0) > interval);
}

function waits(): never {
  throw new ApiError('unavailable', 'Too many long deliveries of one address arrive at once; send it again.');
}

function refused(): ApiError {
  return new ApiError(
    'invalid_credential',
    "There is no such connection, or this delivery is not signed as it expects; check the secret and the sender's clock.",
  );
}

/** An id as the key of the delivery: as it is, if an index takes it. */
function keyOf(id: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(id) ? id : createHash('sha256').update(id).digest('hex');
}

/** What a provider calls a thing, fit for a log, an answer and a column: in one line, nothing hidden. */
function inWords(text: string): string {
  return shown(text.slice(0, WORDS).toWellFormed());
}
