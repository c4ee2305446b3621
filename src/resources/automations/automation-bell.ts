// A write that lets an automation be due sooner tells the workers, which sleep until the earliest time that they know of.
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { PgChannel } from '../../platform/signals/pg-channel.js';

/** The kind of the notice: no run, and no queue of jobs. */
export const OCCURRENCES = 'occurrences';

/** Wakes the workers after the commit. A notice that is lost costs at most the second after which they look by themselves. */
export function ringOccurrences(
  tx: UnitOfWork,
  channel: PgChannel,
  { id, nextRunAt }: { id: string; nextRunAt: Date | null },
): void {
  if (nextRunAt !== null) tx.afterCommit(() => channel.send({ work: { kind: OCCURRENCES, id } }));
}
