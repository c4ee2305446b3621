import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { ModelServer, stepOf } from '../harness/model-server.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { createTask, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

/** The last twelve lines. */
const LAST = Array.from({ length: 12 }, (_, n) => `    ${n + 9}\n`).join('');

describe('Commands that go on, from a client (reference §19, §27.2)', () => {
  let model: ModelServer;
  let member: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { transparency: { tool_activity: true }, titles: false },
    });
  });
  beforeEach(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const mw = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out, err: command.err };
  };
  /** A task with two that run, and what ends it. */
  const begun = async (...marks: string[]) => {
    const calls = marks.map((mark) => ({ name: 'bash', arguments: { command: `seq 1 20; exec sleep ${mark}`, background: true } })); // prettier-ignore
    model.script = (request) => (stepOf(request) === 0 ? { calls } : { hang: true });
    const { id } = await createTask(member.client, { content: 'Do it.' });
    for (const mark of marks) await sleeps(mark);
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const all = async () => {
      const found = [];
      for await (const command of tasks.commands(id, { limit: 1 })) found.push(command);
      return found;
    };
    await until('both to be listed', async () => (await all()).length === marks.length);
    const end = async () => {
      await member.client.post(`/v1/tasks/${id}/cancel`, {});
      await reaches(member.client, id, 'cancelled');
    };
    return { id, tasks, all, end };
  };

  it('the SDK lists them page by page and stops one; one that has ended is an error with its code', async () => {
    const [one, two] = [newMark(), newMark()] as const;
    const { id, tasks, all, end } = await begun(one, two);
    expect(await all()).toMatchObject([{ id: 'b2' }, { id: 'b1', status: 'running', endedAt: null }]);
    expect(await tasks.stopCommand(id, 'b1')).toMatchObject({ id: 'b1', command: `seq 1 20; exec sleep ${one}` });
    await processesGone(one);
    await until('its end', async () => (await all())[1]?.status === 'stopped');
    expect((await all())[0]).toMatchObject({ id: 'b2', status: 'running' });
    await expect(tasks.stopCommand(id, 'b1')).rejects.toMatchObject({ status: 409, code: 'command_not_running' });
    await expect(tasks.stopCommand(id, 'b7')).rejects.toMatchObject({ status: 404 });
    await end();
  });

  it('commands lists them with the end of what they said, and --stop stops one', async () => {
    const [one, two] = [newMark(), newMark()] as const;
    const { id, all, end } = await begun(one, two);
    const stop = await mw('commands', id, '--stop', 'b2');
    expect(stop.code).toBe(0);
    // What one that runs has said is on record some seconds later.
    const running = (id: string, mark: string) => `${id}  running  seq 1 20; exec sleep ${mark}\n(${LAST})?`;
    expect(stop.out).toMatch(new RegExp(`^${running('b2', two)}$`));
    await processesGone(two);
    await until('its end', async () => (await all())[0]?.status === 'stopped');
    const { out, code } = await mw('commands', id);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^b2  stopped  seq 1 20; exec sleep ${two}\n${LAST}${running('b1', one)}$`));
    const told = (await mw('commands', id, '--json')).out.trim().split('\n');
    expect(told.map((line) => JSON.parse(line) as object)).toMatchObject([{ id: 'b2' }, { id: 'b1' }]);
    const again = await mw('commands', id, '--stop', 'b2');
    expect(again.code).not.toBe(0);
    expect(again.err).toContain('The command b2 does not run any more: stopped.');
    await end();
  });
});
