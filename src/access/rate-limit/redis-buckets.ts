import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type Bucket, bucketOf, type Decision } from './gcra.js';
import { DECIDE, REDIS_CLOCK } from './gcra-script.js';

/** Milliseconds that a request waits for Redis. */
const PATIENCE_MS = 50;
/** Milliseconds that the boot waits for it. */
const BOOT_MS = 1000;
const PROBE_MS = 250;
/** After so many unanswered probes in a row, two seconds, a new connection is tried: the old one may lead nowhere. */
const PROBES_PER_CONNECTION = 8;
const PROBE_BUCKET = bucketOf('probe', { capacity: 1000, windowSeconds: 1 });

type Scripted = Redis & { decide(keyCount: number, ...words: (string | number)[]): Promise<number[]> };

class Unanswered extends Error {}

/**
 * The buckets in Redis, for all processes together. When a decision fails or takes too long, Redis is not asked again until a
 * probe in the background has succeeded, so that it costs one request 50 ms and not all of them.
 */
export class RedisBuckets {
  private readonly logger = new Logger('RateLimits');
  private readonly redis: Scripted;
  private usable = false;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;
  private unanswered = 0;

  constructor(
    url: string,
    private readonly patienceMs = PATIENCE_MS,
  ) {
    this.redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: BOOT_MS,
      disconnectTimeout: 100,
      retryStrategy: (attempt) => Math.min(attempt * 50, 500),
      // A primary that became a replica keeps its connections: the name may lead to the new one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    }) as Scripted;
    this.redis.on('error', (error: Error) => this.logger.debug(error.message));
    this.redis.defineCommand('decide', { lua: REDIS_CLOCK + DECIDE });
  }

  /** Waits for Redis, up to a second; the service also boots without it. */
  async open(): Promise<void> {
    this.redis.connect().catch(() => undefined);
    const ready = new Promise<void>((resolve) => this.redis.once('ready', resolve));
    try {
      await within(ready, BOOT_MS);
      await this.ask('probe', [PROBE_BUCKET]);
      this.usable = true;
    } catch (error) {
      this.lose(error);
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.redis.disconnect();
  }

  /** Null when Redis cannot decide now. Never throws. */
  async take(owner: string, buckets: readonly Bucket[]): Promise<(Decision & { now: number }) | null> {
    if (!this.usable) return null;
    try {
      return await this.ask(owner, buckets);
    } catch (error) {
      if (this.usable) this.lose(error);
      return null;
    }
  }

  private async ask(owner: string, buckets: readonly Bucket[]): Promise<Decision & { now: number }> {
    // One hash tag: in a cluster both buckets lie on the same node.
    const keys = buckets.map(({ key }) => `millwright:limit:{${owner}}:${key}`);
    const words = buckets.flatMap(({ interval, burst }) => [interval, burst]);
    const answer = this.redis.decide(keys.length, ...keys, ...words);
    const [allowed, now = 0, ...backlogs] = await within(answer, this.patienceMs);
    return { allowed: allowed === 1, now, backlogs };
  }

  private lose(error: unknown): void {
    this.usable = false;
    this.logger.warn(`Redis does not decide (${String(error)}): limits count in this process until it is back.`);
    this.probeLater();
  }

  private probeLater(): void {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), PROBE_MS).unref();
  }

  /** A real decision: a Redis that is full or read-only still answers a PING. */
  private async probe(): Promise<void> {
    try {
      await this.ask('probe', [PROBE_BUCKET]);
      this.logger.log('Redis decides again.');
      this.usable = true;
      this.unanswered = 0;
    } catch (error) {
      this.unanswered = error instanceof Unanswered ? this.unanswered + 1 : 0;
      if (!this.closed && this.unanswered >= PROBES_PER_CONNECTION) {
        this.unanswered = 0;
        this.redis.disconnect(true);
      }
      this.probeLater();
    }
  }
}

/** Rejects when the answer takes longer. An answer that has arrived while this process was busy is not late. */
function within<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => setImmediate(() => reject(new Unanswered(`no answer within ${ms} ms`)));
    const timer = setTimeout(late, ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
