import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Sealing } from '../../platform/config/sealing.js';
import { DatabaseServer } from '../../platform/database/database-server.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { WorkLoop } from '../../platform/jobs/work-loop.js';
import { DELIVERIES } from '../../platform/fairness/shares.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Notices } from '../../platform/notices/notices.js';
import { TEST_EVENT } from '../../resources/webhooks/event-types.js';
import { ownerOfSecret } from '../../resources/webhooks/webhook.entity.js';
import { attempt, type Outcome } from './attempt.js';
import type { ClaimedDelivery, Result } from './deliveries.sql.js';
import { DeliveryClaims } from './delivery-claims.js';
import { signedHeaders } from './signatures.js';
import { waitAfter } from './waits.js';
import { WebhookEgress } from './webhook-egress.js';

/** Between two looks, in milliseconds: under load hundreds of tasks change in a second. */
const PAUSE_MS = 20;
/** How long results wait for others, in milliseconds. */
const TOGETHER_MS = 5;
/** How long the end of the process waits for requests under way. Milliseconds. */
const CLOSE_MS = 5_000;

interface Sending {
  delivery: ClaimedDelivery;
  /** Resolves when it is recorded, or let go. */
  over: Promise<void>;
  end: () => void;
}

/**
 * Sends deliveries: claims what is due, makes one attempt at each, records what became of it (reference §18). At once when something
 * in this process has written an event, else each second.
 */
@Injectable()
export class DeliverySender implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly attempts;
  private readonly stop = new AbortController();
  private readonly sending = new Map<string, Sending>();
  private results: Result[] = [];
  private recording: Promise<void> | null = null;
  private readonly loop = new WorkLoop({ at: 'deliveries', look: () => this.claim(), delayMs: 1, pauseMs: PAUSE_MS });

  constructor(
    private readonly claims: DeliveryClaims,
    private readonly egress: WebhookEgress,
    private readonly sealing: Sealing,
    private readonly notices: Notices,
    private readonly server: DatabaseServer,
    metrics: Metrics,
  ) {
    // One for each request under way.
    setMaxListeners(0, this.stop.signal);
    this.attempts = metrics.counter('webhook_attempts_total', 'Requests to webhooks.', 'outcome');
  }

  onModuleInit(): void {
    const wake = () => this.wake();
    // This process writes events (`workspace`), or one without workers does, whose notices of `work` and `stop` tell of it.
    for (const topic of ['workspace', 'webhook', 'work', 'stop'] as const) this.notices.on(topic, wake, wake);
  }

  async onApplicationBootstrap(): Promise<void> {
    // With the embedded database no other process works: what is being sent was a killed process's.
    if (this.server.embedded) await this.claims.endLeases();
  }

  /** There may be something to send. */
  @Interval(1000)
  wake(): void {
    void this.loop.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    // A claim under way first: what it brings is sent, or handed back.
    await this.loop.end();
    const all = () => Promise.all([...this.sending.values()].map(({ over }) => over));
    const limit = new AbortController();
    await Promise.race([all(), wait(CLOSE_MS, undefined, limit).catch(() => undefined)]);
    limit.abort();
    this.stop.abort(new Error('This process stops.'));
    await all();
  }

  private async claim(): Promise<void> {
    const places = DELIVERIES.atOnce - this.sending.size;
    if (places <= 0 || !(await this.claims.look())) return;
    const held = new Map<string, number>();
    for (const { delivery } of this.sending.values()) {
      held.set(delivery.workspaceId, (held.get(delivery.workspaceId) ?? 0) + 1);
    }
    for (const delivery of await this.claims.claim({ places, share: DELIVERIES.ofWorkspace, held }))
      this.send(delivery);
  }

  private send(delivery: ClaimedDelivery): void {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    this.sending.set(keyOf(delivery), { delivery, over, end });
    this.outcomeOf(delivery).then(
      (outcome) => this.ended(resultOf(delivery, outcome)),
      () => void this.handBack(delivery),
    );
  }

  /** Rejects at the end of the process alone. */
  private outcomeOf({ webhookId, eventId: id, body, address, ...row }: ClaimedDelivery): Promise<Outcome> {
    let secrets: string[];
    try {
      const sealed = row.former && row.previousSecret !== null ? [row.secret, row.previousSecret] : [row.secret];
      secrets = sealed.map((one) => this.sealing.open(ownerOfSecret(webhookId), one));
    } catch {
      const error = 'The secret cannot be read: it was made under another SECRET_KEY. Make a new one.';
      const nothing = { at: new Date().toISOString(), durationMs: 0, status: null, error, response: null };
      return Promise.resolve({ attempt: nothing, retryAfter: null });
    }
    const headers = signedHeaders(secrets, { id, timestamp: Math.floor(Date.now() / 1000), body });
    return attempt(this.egress, { url: new URL(address), headers, body }, this.stop.signal);
  }

  private ended(result: Result): void {
    this.attempts.inc({ outcome: result.delivered ? 'delivered' : 'failed' });
    this.results.push(result);
    this.recordSoon();
  }

  private recordSoon(): void {
    this.recording ??= wait(TOGETHER_MS)
      .then(() => this.record())
      .finally(() => {
        this.recording = null;
        if (this.results.length > 0) this.recordSoon();
      });
  }

  /** Until nothing is left. What cannot be recorded is sent again when its lease is over. */
  private async record(): Promise<void> {
    while (this.results.length > 0) {
      const results = this.results;
      this.results = [];
      try {
        for (const id of await retryWhileUnavailable(() => this.claims.record(results), this.stop.signal)) {
          this.logger.warn(`Webhook ${id} is disabled; what waited for it is cancelled.`);
        }
      } catch (error) {
        this.logger.warn(`What became of ${results.length} deliveries was not recorded: ${String(error)}`);
      }
      for (const result of results) this.release(result);
      this.wake();
    }
  }

  private async handBack(delivery: ClaimedDelivery): Promise<void> {
    try {
      await this.claims.handBack([delivery]);
    } catch (error) {
      this.logger.warn(`A delivery was not handed back; its lease ends by itself: ${String(error)}`);
    }
    this.release(delivery);
  }

  private release(claim: Pick<ClaimedDelivery, 'id' | 'epoch'>): void {
    const key = keyOf(claim);
    this.sending.get(key)?.end();
    this.sending.delete(key);
  }
}

/** With its epoch: a process may take over what it lost itself. */
function keyOf({ id, epoch }: Pick<ClaimedDelivery, 'id' | 'epoch'>): string {
  return `${id}@${epoch}`;
}

function resultOf(
  { id, epoch, webhookId, address, eventType, attempts }: ClaimedDelivery,
  { attempt, retryAfter }: Outcome,
): Result {
  const { status } = attempt;
  const delivered = status !== null && status >= 200 && status < 300;
  const gone = status === 410;
  const last = delivered || gone || eventType === TEST_EVENT;
  return {
    id,
    epoch,
    webhookId,
    address,
    attempt,
    delivered,
    gone,
    wait: last ? null : waitAfter(attempts + 1, retryAfter),
  };
}
