import type { UsageRow } from '../../api/client.ts';

const DAY_MS = 86_400_000;

/** The last days of UTC, today included, oldest first: `2026-11-23`. */
export function lastDays(days: number, now = Date.now()): string[] {
  return Array.from({ length: days }, (_, index) =>
    new Date(now - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

export const costOf = ({ cost }: UsageRow): number => Number(cost?.amount ?? 0);

export const FIGURES = [
  'tasks',
  'steps',
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'reasoningTokens',
] as const;
type Figure = (typeof FIGURES)[number];
export type Total = Record<Figure, number> & { cost: number | null };

export function totalOf(rows: UsageRow[]): Total {
  const sum = (name: Figure) => rows.reduce((total, row) => total + row[name], 0);
  return {
    ...(Object.fromEntries(FIGURES.map((name) => [name, sum(name)])) as Record<Figure, number>),
    cost: rows.some(({ cost }) => cost !== null) ? rows.reduce((total, row) => total + costOf(row), 0) : null,
  };
}
