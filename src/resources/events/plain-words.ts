import type { Piece } from '../../platform/events/event-news.js';
import { isFinal } from '../tasks/task-status.js';
import type { Words } from './event-stream.js';
import type { Batch, Feed } from './feed.js';
import type { EndReason } from './follower.js';
import type { Pieces } from './pieces.js';
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
    private readonly pieces: Pieces | null = null,
  ) {
    this.position = options.ready.position;
  }

  begin(): string {
    const { ready } = this.options;
    return retry(RETRY_MS) + frame({ type: 'stream.ready', ...ready }, ready.position);
  }

  events(batch: Batch): string {
    this.pieces?.replacedBy(batch);
    this.position = this.feed.position;
    return framesOf(batch);
  }

  caughtUp(): string {
    return this.say('stream.caught_up');
  }

  piece(piece: Piece): string {
    return (this.pieces?.shown(piece) ?? []).map((one) => frame(one)).join('');
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
