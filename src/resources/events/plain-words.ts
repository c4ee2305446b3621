import type { LiveUpdate } from '../../platform/events/event-subscriptions.js';
import { isFinal } from '../tasks/task-status.js';
import type { Words } from './event-stream.js';
import type { Batch, Feed } from './feed.js';
import type { EndReason } from './subscription.js';
import type { LiveUpdates } from './live-updates.js';
import { backAfterStop, frame, framesOf, retry, RETRY_MS } from './frames.js';

/** What begins a stream. */
export interface Ready {
  position: string;
  /** The number of the last event when the stream began; null for a workspace. */
  latest: number | null;
  task: object | null;
}

export interface PlainOptions {
  ready: Ready;
  /** Ends when the status of the task is final. */
  until: boolean;
}

/** The service's own form: one JSON object in each frame. */
export class PlainWords implements Words {
  /** Behind what was said: the feed may have read on. */
  private position: string;

  constructor(
    private readonly feed: Feed,
    private readonly options: PlainOptions,
    private readonly updates: LiveUpdates | null = null,
  ) {
    this.position = options.ready.position;
  }

  begin(): string {
    const { ready } = this.options;
    return retry(RETRY_MS) + frame({ type: 'stream.ready', ...ready }, ready.position);
  }

  events(batch: Batch): string {
    this.updates?.replacedBy(batch);
    this.position = this.feed.position;
    return framesOf(batch);
  }

  caughtUp(): string {
    return this.say('stream.caught_up');
  }

  update(update: LiveUpdate): string {
    return (this.updates?.shown(update) ?? []).map((one) => frame(one)).join('');
  }

  heartbeat(): string {
    return this.say('heartbeat', { status: this.feed.status });
  }

  end(reason: EndReason): string {
    const again = reason === 'shutdown' ? retry(backAfterStop()) : '';
    return again + this.say('stream.end', { reason });
  }

  over(): EndReason | null {
    const { status } = this.feed;
    return status !== null && this.options.until && isFinal(status) ? 'final' : null;
  }

  private say(type: string, more: object = {}): string {
    const { position } = this;
    return frame({ type, position, ...more }, position);
  }
}
