import { type Transparency, transparencyWith } from '../../platform/config/config-file.js';
import { taskEvent } from '../tasks/events/task-events.js';
import type { TaskStatus } from '../tasks/task-status.js';
import type { EventReads } from './event-reads.js';
import { eventView } from './event.view.js';
import { type Batch, type Ending, Feed, type Reader } from './feed.js';
import { TASK_BATCH } from './task-batch.sql.js';

export interface TaskFeedOptions extends Reader {
  taskId: string;
  /** The number of the event behind which it begins; null for the last one there is. */
  after: number | null;
  /** Null: all types. */
  types: string[] | null;
  /** Begins absolute links. */
  origin: string;
  /** Of the deployment, where the workspace has no policy of its own. */
  policy: Transparency;
}

/** The largest number that the database takes. */
export const LAST = 2 ** 31 - 1;

/** The events of a task. */
export class TaskFeed extends Feed {
  override status: TaskStatus | null = null;
  /** The task's last event when it was last read. */
  lastEvent = 0;
  /** The workspace's own policy as the look writes it; see `POLICY_TEXT`. */
  policyText = '*';
  transparency: Transparency;
  private after: number;

  constructor(
    protected readonly reads: EventReads,
    protected readonly options: TaskFeedOptions,
  ) {
    super(options);
    this.after = options.after ?? LAST;
    this.transparency = options.policy;
  }

  get followed(): string {
    return this.options.taskId;
  }
  get position(): string {
    return String(this.after);
  }

  async next(limit: number): Promise<Batch | Ending> {
    const { after } = this;
    const { workspaceId, keyId, session, taskId, types, origin, policy } = this.options;
    const [found] = await this.reads.run(workspaceId, TASK_BATCH({ keyId, session, taskId, after, types, limit }));
    if (found === undefined) return this.reads.ending(this.reader);
    const { events, lastEvent, status, transparency } = found;
    this.transparency = transparency === null ? policy : transparencyWith(transparency);
    this.policyText = transparency?.join(',') ?? '*';
    this.status = status;
    this.lastEvent = lastEvent;
    const all = events ?? [];
    const rows = all.flatMap((row) => row ?? []);
    const caughtUp = all.length < limit && rows.length === all.length;
    const context = { transparency: this.transparency, origin };
    const shown = rows.flatMap((row) => {
      const event = eventView(taskEvent(row), context);
      return event === null ? [] : [{ position: String(row.seq), event }];
    });
    // What the types leave out is behind as well.
    if (caughtUp) this.after = lastEvent;
    else this.after = rows.at(-1)?.seq ?? this.after;
    return { shown, caughtUp };
  }
}
