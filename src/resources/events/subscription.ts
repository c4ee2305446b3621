import type { Subscriber } from '../../platform/events/event-subscriptions.js';
import type { Batch, Ending, Feed } from './feed.js';

/** Why a stream ends (reference §17). */
export type EndReason = 'final' | 'shutdown' | 'slow' | Ending;

/**
 * Reads a feed on whenever there may be something new, one batch after the other, until it is over. What comes while it reads lets
 * it read once more.
 */
export abstract class Subscription implements Subscriber {
  private again = false;
  private reading = false;
  private failedLast = false;
  private readonly ends: (() => void)[] = [];
  /** Nothing more is read or sent. */
  protected over = false;

  constructor(readonly feed: Feed) {}

  /** There may be something new. Also called when the look finds that the stream may be over: the next read tells. */
  changed(): void {
    this.again = true;
    if (!this.reading) void this.readOn();
  }

  /** Ends it. May be called twice. */
  end(reason: EndReason): void {
    if (this.over) return;
    this.ended();
    this.finish(reason);
  }

  /** Ends it without a word: the client has gone. */
  protected ended(): void {
    this.over = true;
    for (const end of this.ends.splice(0)) end();
  }

  onOver(end: () => void): void {
    if (this.over) end();
    else this.ends.push(end);
  }

  /** Called each second with `performance.now()`. */
  tick(_now: number): void {
    if (this.failedLast) this.changed();
  }
  /** What waits for the client to take it. */
  get waitingBytes(): number {
    return 0;
  }
  /** The look was made: access was as it is. */
  looked(): void {}

  /** Reads the next batch. */
  protected abstract read(): Promise<Batch | Ending>;
  /** Takes a batch; resolves when the next one may be read. */
  protected abstract take(batch: Batch): Promise<void> | void;
  protected abstract finish(reason: EndReason): void;
  /** The read failed; it is tried again at the next tick. */
  protected failed(_error: unknown): void {
    this.failedLast = true;
  }

  private async readOn(): Promise<void> {
    this.reading = true;
    try {
      while (this.again && !this.over) {
        this.again = false;
        const batch = await this.read();
        this.failedLast = false;
        if (this.isOver()) return;
        if (typeof batch === 'string') return this.end(batch);
        this.again ||= !batch.caughtUp;
        await this.take(batch);
      }
    } catch (error) {
      this.again = false;
      this.failed(error);
    } finally {
      this.reading = false;
    }
  }

  /** The compiler takes a field that it has seen false for false still. */
  private isOver(): boolean {
    return this.over;
  }
}
