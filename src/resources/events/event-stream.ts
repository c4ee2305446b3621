import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { LiveUpdate } from '../../platform/events/event-subscriptions.js';
import type { Batch, Ending, Feed } from './feed.js';
import { type EndReason, Subscription } from './subscription.js';
import { STREAM_HEADERS } from './frames.js';

/** Milliseconds without another frame after which a heartbeat goes out. */
const QUIET_MS = 15_000;
/** Milliseconds after which it reads although nothing is new: a position that nothing moves grows too old to come back to. */
const READ_MS = 3_600_000;
/** Milliseconds in which a client takes something of what waits for it. */
const SLOW_MS = 60_000;
/** After the last word, milliseconds for the client to take it. */
const LAST_MS = 5_000;
/** Of one batch: a page of messages has no more. */
export const LIMIT = 100;
/** Bytes that wait for the client, above which nothing is passed on that is not recorded. */
const CROWDED = 64 * 1024;
/** Milliseconds since the last look at the access, above which nothing is passed on that is not recorded. */
const UNCHECKED_MS = 3_000;

const logger = new Logger('Events');

/** What a stream says, in its format. */
export interface Words {
  /** Beside those of every stream. */
  readonly headers?: Record<string, string>;
  /** The first word. */
  begin(): string;
  events(batch: Batch): string;
  caughtUp(): string;
  update(update: LiveUpdate): string;
  heartbeat(): string;
  end(reason: EndReason): string;
  /** Whether all is said: after a batch that has caught up. */
  over(): EndReason | null;
}

export interface StreamOptions {
  joins?: () => void;
  first?: Batch;
}

/** A connection on which events follow one another until one side ends it. */
export class EventStream extends Subscription {
  /** Absent, so that nothing is passed on to it: see {@link EventSubscriptions}. */
  declare onUpdate?: (update: LiveUpdate) => void;
  private failedBefore = false;
  private caughtUp = false;
  private wroteAt = performance.now();
  private readAt = performance.now();
  private checkedAt = performance.now();
  /** Bytes that the client had taken at the look of `takenAt`. */
  private taken = 0;
  private takenAt = 0;

  /**
   * @param options `joins`: asks for what is not recorded, from its beginning; `first`: what was read of the feed already.
   */
  constructor(
    feed: Feed,
    private readonly res: ServerResponse,
    private readonly words: Words,
    private readonly options: StreamOptions,
  ) {
    super(feed);
    if (options.joins !== undefined) this.onUpdate = (update) => this.passOn(update);
    res.once('close', () => this.ended());
    res.writeHead(200, { ...STREAM_HEADERS, ...words.headers });
    res.write(words.begin());
  }

  override tick(now: number): void {
    super.tick(now);
    if (this.waits) {
      if (this.isStuck(now)) this.end('slow');
      return;
    }
    this.takenAt = now;
    if (now - this.readAt >= READ_MS) this.changed();
    if (now - this.wroteAt >= QUIET_MS) this.write(this.words.heartbeat());
  }

  override looked(): void {
    this.checkedAt = performance.now();
  }

  protected override read(): Promise<Batch | Ending> {
    this.readAt = performance.now();
    const { first } = this.options;
    delete this.options.first;
    return first === undefined ? this.feed.next(LIMIT) : Promise.resolve(first);
  }

  protected override async take(batch: Batch): Promise<void> {
    try {
      this.write(this.words.events(batch));
    } catch (error) {
      // The next batch would follow one that was not sent. The client comes back from the last position that it has.
      this.res.destroy();
      throw error;
    }
    if (batch.caughtUp) {
      this.catchUp();
      const over = this.words.over();
      if (over !== null) this.end(over);
    }
    await this.drained();
  }

  protected override failed(error: unknown): void {
    super.failed(error);
    if (this.failedBefore) return;
    this.failedBefore = true;
    logger.warn(`A stream of ${this.feed.followed} cannot go on, and tries again: ${String(error)}`);
  }

  protected override finish(reason: EndReason): void {
    const { res } = this;
    if (res.destroyed) return;
    res.end(this.words.end(reason));
    setTimeout(() => res.destroy(), LAST_MS).unref();
  }

  private catchUp(): void {
    if (this.caughtUp) return;
    this.caughtUp = true;
    this.write(this.words.caughtUp());
    this.options.joins?.();
  }

  private passOn(update: LiveUpdate): void {
    // Before the events that are there the updates would be of what is told of later.
    if (this.over || !this.caughtUp || this.waitingBytes > CROWDED) return;
    if (performance.now() - this.checkedAt > UNCHECKED_MS) return;
    this.write(this.words.update(update));
  }

  private write(text: string): void {
    if (text === '' || this.over || this.res.destroyed) return;
    this.res.write(text);
    this.wroteAt = performance.now();
  }

  override get waitingBytes(): number {
    return this.res.socket?.writableLength ?? 0;
  }
  private get waits(): boolean {
    return this.waitingBytes > 0;
  }

  /** The next batch is read when the client has taken this one: until then one batch waits, and no more. */
  private drained(): Promise<void> {
    const { res } = this;
    if (!res.writableNeedDrain || res.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        res.off('drain', done);
        res.off('close', done);
        resolve();
      };
      res.once('drain', done);
      res.once('close', done);
    });
  }

  private isStuck(now: number): boolean {
    const { socket } = this.res;
    const taken = (socket?.bytesWritten ?? 0) - this.waitingBytes;
    if (taken !== this.taken || this.takenAt === 0) {
      this.taken = taken;
      this.takenAt = now;
    }
    return now - this.takenAt >= SLOW_MS;
  }
}
