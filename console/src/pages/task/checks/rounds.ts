import type { CheckLog, RunningCheck } from '../../../api/check-queries.ts';
import type { TaskCheck } from '../../../api/client.ts';

/** What ran together, in its order. */
export interface Round {
  key: string;
  turn: number;
  round: number;
  checks: TaskCheck[];
}

/** The newest first, as the checks come. What ran before the work is no round of it. */
export function roundsOf(newestFirst: readonly TaskCheck[]): Round[] {
  const rounds: Round[] = [];
  for (const check of newestFirst) {
    if (check.phase === 'before') continue;
    const last = rounds.at(-1);
    // Where the same ones ran once more, without a repair, a name comes again.
    const belongs =
      last?.turn === check.turn && last.round === check.round && last.checks.every(({ name }) => name !== check.name);
    if (belongs) last.checks.unshift(check);
    else rounds.push({ key: check.id, turn: check.turn, round: check.round, checks: [check] });
  }
  return rounds;
}

type Status = TaskCheck['status'];

/** A check on the original, and on the work in the last round. */
export interface Pair {
  name: string;
  before?: TaskCheck | undefined;
  after?: TaskCheck | undefined;
  /** How it stood and stands, also where what it wrote is not at hand. */
  was?: Status | undefined;
  is?: Status | undefined;
  running?: RunningCheck | undefined;
}

/**
 * In the order of the task.
 * @param last undefined: none of the round has ended yet. @param ended whether all of it has: what ran on the original alone is no check of the task any more.
 */
export function pairsOf(
  newestFirst: readonly TaskCheck[],
  log: CheckLog,
  last: Round | undefined,
  ended: boolean,
): Pair[] {
  const before = new Map<string, TaskCheck>();
  // Of those that ran there more than once, the newest.
  for (const check of newestFirst.toReversed()) if (check.phase === 'before') before.set(check.name, check);
  const after = new Map(last?.checks.map((check) => [check.name, check]));
  const known = ended ? [] : [...before.keys(), ...Object.keys(log.before), ...Object.keys(log.after)];
  const names = new Set([...known, ...after.keys(), ...log.running.map(({ name }) => name)]);
  const inOrder = [...names].sort((one, other) => log.names.indexOf(one) - log.names.indexOf(other));
  return inOrder.map((name) => ({
    name,
    before: before.get(name),
    after: after.get(name),
    was: before.get(name)?.status ?? log.before[name],
    is: after.get(name)?.status ?? (ended ? undefined : log.after[name]),
    running: log.running.find((one) => one.name === name),
  }));
}
