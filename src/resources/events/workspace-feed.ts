import type { EventReads } from './event-reads.js';
import { workspaceEventView } from './event.view.js';
import { type Batch, type Ending, Feed, type Reader } from './feed.js';
import type { LogPositions } from './log-position.js';
import { type LogPlace, WORKSPACE_BATCH } from './workspace-batch.sql.js';

export interface WorkspaceFeedOptions extends Reader {
  /** Those that are asked for, of which the key is told. */
  types: string[];
  projectId: string | null;
  after: LogPlace;
  /** How long events are kept. */
  days: number;
}

export const BEGINNING: LogPlace = { xid: 0, id: 0, at: null };

/** The events of a workspace that its reader sees. */
export class WorkspaceFeed extends Feed {
  place: LogPlace;
  /** What it begins behind is gone. Known from the first {@link next} on. */
  expired = false;

  constructor(
    private readonly reads: EventReads,
    private readonly positions: LogPositions,
    private readonly options: WorkspaceFeedOptions,
  ) {
    super(options);
    this.place = options.after;
  }

  get followed(): string {
    return this.reader.workspaceId;
  }
  get position(): string {
    return this.positions.write(this.place);
  }

  /** Whether it has not read as far as to this place. */
  isBefore({ xid, id }: Pick<LogPlace, 'xid' | 'id'>): boolean {
    return this.place.xid < xid || (this.place.xid === xid && this.place.id < id);
  }

  async next(limit: number): Promise<Batch | Ending> {
    const { workspaceId, keyId, session, types, projectId, days } = this.options;
    const values = { keyId, session, types, projectId, days, limit, ...this.place };
    const [found] = await this.reads.run(workspaceId, WORKSPACE_BATCH(values));
    if (found === undefined) return 'unauthorized';
    const { events, last, caughtUp, now, expired } = found;
    this.expired = expired;
    if (expired) return 'gone';
    const { xid, id, at } = last ?? this.place;
    // Nothing before this moment is missing, so the position stays good for as long as events are kept from now on.
    this.place = { xid, id, at: caughtUp ? now : at };
    const shown = (events ?? []).map(({ xid: x, placeId, ...news }) => ({
      position: this.positions.write({ xid: x, id: placeId, at: news.createdAt }),
      event: workspaceEventView(news),
    }));
    return { shown, caughtUp };
  }
}
