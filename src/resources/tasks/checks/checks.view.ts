import { z } from 'zod';
import type { TaskRow } from '../task.sql.js';

const count = z.int().min(0);
export const checksSchema = z
  .strictObject({
    status: z
      .enum(['none', 'pending', 'running', 'passed', 'failed', 'error'])
      .describe(
        'Of its last turn. `none`: the task has no checks. `pending`: they have not come to an end in it. `error`: one could not be carried out.',
      ),
    passed: count.describe('In the last round.'),
    failed: count.describe('In the last round; also what was not required, or could not be carried out.'),
    repairs: count.describe('How often the agent went on in this turn, because a check had failed.'),
  })
  .describe('What the service has found out about the work by itself.');

/** How the checks of a task stand, as clients see it (reference §26). */
export function checksView({
  hasChecks,
  checked,
  turn,
  status: ofTask,
}: Pick<TaskRow, 'hasChecks' | 'checked' | 'turn' | 'status'>): z.output<typeof checksSchema> {
  const none = { passed: 0, failed: 0, repairs: 0 };
  if (!hasChecks) return { status: 'none', ...none };
  if (checked?.turn !== turn) return { status: 'pending', ...none };
  const { status, passed, failed, repairs } = checked;
  // Cut short: by a cancel, a pause, or a worker that was lost.
  if (status === 'running' && ofTask !== 'running') return { status: 'pending', ...none, repairs };
  return { status, passed, failed, repairs };
}
