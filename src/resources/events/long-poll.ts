import type { Batch, Ending, Feed } from './feed.js';
import { type EndReason, Subscription } from './subscription.js';

export interface Polled {
  batch: Batch;
  position: string;
}

/** A request in JSON that waits for an event to show. */
export class LongPoll extends Subscription {
  private resolve: (found: Polled | Ending) => void;
  private reject: (error: unknown) => void;
  private readonly found: Promise<Polled | Ending>;
  private caughtUp = true;

  /** @param ms how long it waits. */
  constructor(
    feed: Feed,
    private readonly limit: number,
    ms: number,
  ) {
    super(feed);
    this.found = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    const timer = setTimeout(() => this.end('final'), ms);
    this.onOver(() => clearTimeout(timer));
  }

  /** What came, nothing when the time is over or the process stops, or why there is nothing to wait for. Rejects when it cannot be read. */
  answer(): Promise<Polled | Ending> {
    return this.found;
  }

  /** The client has gone. */
  leave(): void {
    this.end('final');
  }

  protected override read(): Promise<Batch | Ending> {
    return this.feed.next(this.limit);
  }

  protected override take(batch: Batch): void {
    this.caughtUp = batch.caughtUp;
    if (batch.shown.length === 0) return;
    this.resolve({ batch, position: this.feed.position });
    this.end('final');
  }

  protected override finish(reason: EndReason): void {
    if (reason === 'gone' || reason === 'unauthorized') return this.resolve(reason);
    this.resolve({ batch: { shown: [], caughtUp: this.caughtUp }, position: this.feed.position });
  }

  protected override failed(error: unknown): void {
    this.reject(error);
    this.end('final');
  }
}
