import type { Client } from './client.js';

/** A check that was carried out, as clients see it. */
export interface ShownCheck {
  id: string;
  turn: number;
  round: number;
  phase: string;
  name: string;
  command: string | null;
  required: boolean;
  status: string;
  exitCode: number | null;
  durationMs: number;
  output: string | null;
  outputBytes: number;
  outputFileId: string | null;
  protectedChanged: string[];
}

/** Those of one phase. Two run at once, so within a round they are in the order of their names. */
export async function listChecks(client: Client, taskId: string, phase = 'after'): Promise<ShownCheck[]> {
  const { status, body } = await client.get<{ checks: ShownCheck[] }>(`/v1/tasks/${taskId}/checks?limit=100`);
  expect(status).toBe(200);
  const inTurn = (a: ShownCheck, b: ShownCheck) =>
    a.turn - b.turn || a.round - b.round || (a.name < b.name ? -1 : Number(a.name > b.name));
  // The newest come first.
  return body.checks
    .toReversed()
    .filter((check) => check.phase === phase)
    .sort(inTurn);
}
