import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { createTask } from '../harness/tasks.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const HELD = '```bash\nsleep 1000\n```';
const LATER = '2099-01-31T08:00:00.000Z';

describe('Pausing a task from a client (reference §19)', () => {
  let member: Member;
  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const mw = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out };
  };

  it('the command pauses it until a time, or until it is resumed', async () => {
    const { id } = await createTask(member.client, { content: HELD });
    expect((await mw('pause', id, '--until', LATER)).code).toBe(0);
    expect(JSON.parse((await mw('show', id, '--json')).out)).toMatchObject({ resumesAt: LATER });
    expect((await mw('pause', id, '--until', 'then')).code).toBe(5);
    expect(JSON.parse((await mw('resume', id, '--json')).out)).toMatchObject({ statusReason: null, resumesAt: null });
    await mw('cancel', id);
    const waits = await mw('run', HELD, '--when-blocked', 'wait', '--detach', '--json');
    expect(JSON.parse(waits.out)).toMatchObject({ whenBlocked: 'wait' });
  });

  it('the SDK does, too', async () => {
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const { id } = await tasks.create({ content: HELD, whenBlocked: 'wait' });
    expect(await tasks.pause(id)).toMatchObject({ statusReason: { code: 'paused' }, resumesAt: null });
    expect(await tasks.pause(id, { resumeAt: LATER })).toMatchObject({ resumesAt: LATER });
    expect(await tasks.resume(id)).toMatchObject({ statusReason: null });
    await tasks.cancel(id);
    await expect(tasks.pause(id)).rejects.toMatchObject({ code: 'task_not_pausable' });
  });
});
