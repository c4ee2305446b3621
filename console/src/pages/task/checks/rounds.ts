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

/** How each stood on the original, by its name. */
export const beforeOf = (checks: readonly TaskCheck[]): Map<string, TaskCheck['status']> =>
  new Map(checks.filter(({ phase }) => phase === 'before').map(({ name, status }) => [name, status]));
