import { newId } from '../../src/platform/database/ids.js';
import type { TestApp } from './app.js';

/** One more command of a task, which runs. Answers its name. */
export async function makeCommand({ db }: Pick<TestApp, 'db'>, taskId: string): Promise<string> {
  const [made] = await db.query<{ number: number }>(
    `INSERT INTO task_commands (id, task_id, number, tool_call_id, command, terminal)
     SELECT $2, $1, count(*) + 1, 'call', 'npm run dev', false FROM task_commands WHERE task_id = $1 RETURNING number`,
    [taskId, newId()],
  );
  return `b${made?.number}`;
}
