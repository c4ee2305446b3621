import { microsOf, usd } from '../../../platform/money/usd.js';
import type { Budget } from '../budget.js';
import type { Amounts, Limits } from '../delegation.js';

const NAMES = ['steps', 'tokens', 'costMicros'] as const satisfies (keyof Amounts)[];

/** What a task asks for, and what it may have at most. Nothing that is asked for is more than that. */
interface Wanted {
  asked: Limits;
  most: Limits;
}

/** What is taken from the turn for a task, and what the task may use: the same, where the turn has a limit. */
export interface Share {
  reserved: Limits;
  limits: Limits;
}

type Asked = Pick<Budget, 'maxSteps' | 'maxTokens' | 'maxCost'>;

/** @param most what the agent of the task says; null: nothing. */
export function wantedOf(given: { [K in keyof Asked]: Asked[K] | undefined }, most: Budget | null): Wanted {
  const [asked, cap] = [limitsOf(given), limitsOf(most ?? {})];
  const within = (name: keyof Amounts) => (asked[name] === null ? null : least(asked[name], cap[name]));
  return { asked: { steps: within('steps'), tokens: within('tokens'), costMicros: within('costMicros') }, most: cap };
}

/**
 * What each task gets of what a turn has left: what it asks for, else an equal share of half of that, and never more than its agent lets it have. Throws,
 * with the figures, when there is not enough.
 */
export function sharesOf(wanted: readonly Wanted[], left: Limits): Share[] {
  const shares = wanted.map(({ asked, most }): Share => {
    const own = (name: keyof Amounts) => asked[name] ?? most[name];
    return {
      reserved: { steps: null, tokens: null, costMicros: null },
      limits: { steps: own('steps'), tokens: own('tokens'), costMicros: own('costMicros') },
    };
  });
  for (const name of NAMES) {
    const there = left[name];
    if (there === null) continue;
    const usual = Math.floor(there / 2 / wanted.length);
    const each = wanted.map(({ asked, most }) => asked[name] ?? least(usual, most[name]));
    const sum = each.reduce((all, one) => all + one, 0);
    if (sum > there || each.some((one) => one < 1)) throw new Error(tooMuch(name, there, wanted, usual));
    shares.forEach((share, at) => (share.reserved[name] = share.limits[name] = each[at] ?? null));
  }
  return shares;
}

/** @param seconds what the task may last at most, where anything says it: the smallest counts. */
export function budgetOf({ steps, tokens, costMicros }: Limits, seconds: (number | null | undefined)[]): Budget | null {
  const known = seconds.filter((one) => one != null);
  const budget: Budget = {
    ...(steps === null ? {} : { maxSteps: steps }),
    ...(tokens === null ? {} : { maxTokens: tokens }),
    ...(known.length === 0 ? {} : { maxDurationSeconds: Math.max(1, Math.floor(Math.min(...known))) }),
    ...(costMicros === null ? {} : { maxCost: usd(costMicros) }),
  };
  return Object.keys(budget).length === 0 ? null : budget;
}

function limitsOf({ maxSteps, maxTokens, maxCost }: { [K in keyof Asked]: Asked[K] | undefined }): Limits {
  const costMicros = maxCost == null ? null : microsOf(maxCost);
  return { steps: maxSteps ?? null, tokens: maxTokens ?? null, costMicros };
}

const least = (one: number, most: number | null): number => Math.min(one, most ?? one);

function tooMuch(name: keyof Amounts, left: number, all: readonly Wanted[], usual: number): string {
  const wanted = all.flatMap(({ asked }) => asked[name] ?? []);
  const sum = wanted.reduce((so, one) => so + one, 0);
  const others = all.length - wanted.length;
  const want = wanted.length === 0 ? '' : ` The tasks ask for ${inWords(name, sum)}.`;
  const rest = others === 0 ? '' : ` Without a limit of its own each would get ${inWords(name, usual)}.`;
  return `The turn has ${inWords(name, Math.max(0, left))} left, which is not enough for these tasks.${want}${rest} Ask for less, or do the work yourself.`;
}

function inWords(name: keyof Amounts, amount: number): string {
  return name === 'costMicros' ? `${usd(amount)} USD` : `${amount} ${name}`;
}
