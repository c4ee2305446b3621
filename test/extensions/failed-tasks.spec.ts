import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { FAILED_TASKS } from './failed-tasks.js';

describe('A handler of events of an extension (docs/seams.md)', () => {
  const service = useService(() => bootWorker({ extensions: [FAILED_TASKS] }));

  it('is called with what has happened, and writes with its position', async () => {
    const { client, workspace } = await makeMember(service);
    const { status, statusReason } = await runTask(client, 'Fail.\n\n```sh\nexit 3\n```\n', { model: 'runbook' });
    expect(status).toBe('failed');
    const rows = await until('the note', async () => {
      const found = await service.db.query('SELECT workspace_id, reason FROM failed_tasks');
      return found.length === 0 ? null : found;
    });
    expect(rows).toEqual([{ workspace_id: workspace.id, reason: statusReason }]);
  });
});
