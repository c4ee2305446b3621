// What a statement reads, by PostgreSQL's own count: it does not change with the machine.
import type { TestDatabase } from './database.js';

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
}

/** Carries the statement out, and answers how many rows of the table it looked at, those included that it did not take. */
export async function rowsRead(
  db: Pick<TestDatabase, 'query'>,
  table: string,
  { text, values }: { text: string; values: unknown[] },
): Promise<number> {
  return rowsIn(table, await db.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values));
}

function rowsIn(table: string, plan: unknown): number {
  if (typeof plan !== 'object' || plan === null) return 0;
  const { 'Relation Name': name, 'Actual Rows': rows = 0, 'Actual Loops': loops = 0 } = plan as PlanNode;
  const removed = Object.entries(plan).filter(([key]) => key.startsWith('Rows Removed'));
  const own = name === table ? loops * removed.reduce((sum, [, n]) => sum + Number(n), rows) : 0;
  return Object.values(plan as Record<string, unknown>).reduce<number>((sum, part) => sum + rowsIn(table, part), own);
}
