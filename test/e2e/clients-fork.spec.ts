import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright, type Task } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { finished, runTask } from '../harness/tasks.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const FIRST = '```bash\necho one > a\n```';
const LOOK = '```bash\ncat a\n```';

describe('Forking a task from a client (reference §19)', () => {
  let member: Member;
  let taskId: string;
  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
    const { id } = await runTask(member.client, FIRST);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: '```bash\necho two > a\n```' });
    await finished(member.client, id);
    taskId = id;
  });

  const mw = async (args: string[], input = '') => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end(input);
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const made = ({ out }: { out: string }) => JSON.parse(out) as Task;

  it('the command makes one that waits, or one that goes on from a turn', async () => {
    expect(made(await mw(['fork', taskId, '--json']))).toMatchObject({
      status: 'completed',
      forkedFrom: { taskId, turn: 2 },
    });
    const from = made(await mw(['fork', taskId, '-', '--turn', '1', '--title', 'Again', '--json'], LOOK));
    expect(from).toMatchObject({ title: 'Again', forkedFrom: { taskId, turn: 1 } });
    expect(await finished(member.client, from.id)).toMatchObject({ result: { text: expect.stringContaining('one') } });
    expect((await mw(['fork', taskId, LOOK])).out).toMatch(/^[-\da-f]{36} {2}queued {2}/);
  });

  it('the command says what is wrong with its line, and what the service does not take', async () => {
    expect(await mw(['fork', taskId, '--turn', 'last'])).toMatchObject({ code: 2, err: '--turn takes a number.\n' });
    expect(await mw(['fork'])).toMatchObject({ code: 2, err: expect.stringContaining('mw fork TASK [CONTENT|-].') });
    expect((await mw(['fork', taskId, 'two', 'words'])).err).toContain('a text of several words in quotes');
    expect(await mw(['fork', taskId, '--turn', '9'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('1 to 2'),
    });
  });

  it('the SDK does, too', async () => {
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    expect(await tasks.fork(taskId)).toMatchObject({ status: 'completed', forkedFrom: { taskId, turn: 2 } });
    const { id, forkedFrom } = await tasks.fork(taskId, { turn: 1, content: LOOK });
    expect(forkedFrom).toEqual({ taskId, turn: 1 });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
    await service.db.query('DELETE FROM snapshots WHERE task_id = $1 AND turn = 1', [taskId]);
    await expect(tasks.fork(taskId, { turn: 1 })).rejects.toMatchObject({ code: 'snapshot_gone' });
  });
});
