// What is to be done about a schedule that is due, after any time without a worker (reference §12). Pure.
import { missedRuns, nextRun } from '../../resources/automations/schedule.js';

/** How many occurrences that were missed are recorded one by one, the newest. */
export const MAX_RECORDED = 100;
const SPAN_MS = 2 * 3_600_000;

export interface DueSchedule {
  /** The first occurrence that has not fired. */
  dueAt: Date;
  /** Null for one that fires once. */
  cron: string | null;
  timezone: string | null;
}

export interface CatchUp {
  /** The occurrence that fires; null when it is too late for all. */
  fires: Date | null;
  /** Those that were missed, oldest first. */
  missed: Date[];
  /** Between the oldest of `missed` and the others there were more. */
  more: boolean;
  /** When it is due next; null when it never is again. */
  next: Date | null;
}

/**
 * The latest occurrence fires unless it was due more than `windowSeconds` ago, the others were missed. One that fires once does
 * so however late. The next time comes from the last one that was due, never from now.
 */
export function catchUp({ dueAt, cron, timezone }: DueSchedule, now: Date, windowSeconds: number): CatchUp {
  if (cron === null) return { fires: dueAt, missed: [], more: false, next: null };
  const zone = timezone ?? 'UTC';
  const { due, more } = dueUntil(cron, zone, dueAt, now);
  const latest = due.at(-1) ?? dueAt;
  const fires = now.getTime() - latest.getTime() <= windowSeconds * 1000 ? latest : null;
  const missed = fires === null ? due : due.slice(0, -1);
  return { fires, missed, more, next: nextRun(cron, zone, latest) };
}

/** The occurrences from the first that is due until now: all of them, or the first and the newest. */
function dueUntil(cron: string, timezone: string, first: Date, now: Date): { due: Date[]; more: boolean } {
  // A year of one each minute is half a million: it is looked at from its end, further back until there are enough.
  for (let span = SPAN_MS; ; span *= 4) {
    const from = new Date(Math.max(first.getTime(), now.getTime() - span));
    const later = missedRuns(cron, timezone, from, now, Infinity);
    const whole = from.getTime() === first.getTime();
    if (whole && later.length <= MAX_RECORDED) return { due: [first, ...later], more: false };
    if (later.length > MAX_RECORDED || whole) return { due: [first, ...later.slice(-MAX_RECORDED)], more: true };
  }
}
