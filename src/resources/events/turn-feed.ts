import { MOVES } from '../../platform/events/event-types.js';
import { isFinal } from '../tasks/task-status.js';
import type { EventReads } from './event-reads.js';
import type { Batch, Ending } from './feed.js';
import { TaskFeed, type TaskFeedOptions } from './task-feed.js';
import { TURN_AFTER } from './turn.sql.js';

const STATUS_TYPES: readonly string[] = MOVES;
/** What a turn is made of, and what ends it. */
const TYPES = ['message.created', 'message.completed', 'tool.completed', 'interaction.created', 'interaction.settled', ...STATUS_TYPES]; // prettier-ignore

/** The events of one turn. */
export class TurnFeed extends TaskFeed {
  /** After a batch that has caught up: nothing more comes of the turn, or not before a person has said something. */
  over = false;
  private replaced = false;

  constructor(
    reads: EventReads,
    options: Omit<TaskFeedOptions, 'types'>,
    private readonly turn: number,
  ) {
    super(reads, { ...options, types: TYPES });
  }

  override async next(limit: number): Promise<Batch | Ending> {
    const batch = await super.next(limit);
    if (typeof batch === 'string') return batch;
    const { status } = this;
    const until = await this.lastEventOf(batch);
    this.over = this.replaced || status === 'awaiting_input' || (status !== null && isFinal(status));
    const shown = batch.shown.filter(({ position }) => Number(position) <= until);
    return { shown, caughtUp: batch.caughtUp || shown.length < batch.shown.length };
  }

  /** Infinity while no other turn has events. One that takes the place of this turn is queued first, or is begun. */
  private async lastEventOf({ shown }: Batch): Promise<number> {
    if (!this.replaced && !shown.some(({ event }) => STATUS_TYPES.includes(event.type))) return Infinity;
    const { workspaceId, taskId } = this.options;
    const [next] = await this.reads.run(workspaceId, TURN_AFTER({ taskId, turn: this.turn }));
    this.replaced = next !== undefined;
    return next?.until ?? Infinity;
  }
}
