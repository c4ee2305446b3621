import { jest } from '@jest/globals';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { SandboxBusyError } from '../../src/engine/sandbox/sandbox.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, finished, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('While no user id is free for a sandbox (reference §15)', () => {
  let member: Member;
  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
  });

  it('a task waits in the queue, tried about once a second, and is carried out when one is free again', async () => {
    const times: number[] = [];
    const busy = jest.spyOn(service.app.get(SandboxSelector).current, 'reserve').mockImplementation(() => {
      times.push(performance.now());
      return Promise.reject(new SandboxBusyError('No user id is free.'));
    });
    const { id } = await createTask(member.client, { content: '```bash\necho ran\n```' });
    await until('it to be tried three times', () => times.length >= 3);
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0) > 900)).not.toContain(false);
    await until('it to be back in the queue', async () => (await readTask(member.client, id)).status === 'queued');
    expect(await readTask(member.client, id)).toMatchObject({ statusReason: null, result: null });
    expect(await readMessages(member.client, id)).toHaveLength(1);

    busy.mockRestore();
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2 } });
    const runs = await service.db.query('SELECT recovery_count FROM runs WHERE task_id = $1', [id]);
    expect(runs).toEqual([{ recovery_count: 0 }]);
  });
});
