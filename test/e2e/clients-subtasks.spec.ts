import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { SubtaskBench } from '../harness/subtasks.js';
import { createTask } from '../harness/tasks.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const block = (tasks: object[]) => `\`\`\`delegate\n${JSON.stringify({ tasks })}\n\`\`\``;
const part = (title: string, content: string) => ({ title, content, folder: 'empty' });

describe('Tasks of tasks from a client, with the runbook (reference §19, §27)', () => {
  let member: Member;
  let bench: SubtaskBench;
  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
    bench = new SubtaskBench(member);
  });

  const mw = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out };
  };

  it('the command shows the tree, and the SDK lists it', async () => {
    const inner = part('B', block([part('C', '```ask\nWhich one?\n```')]));
    const { id } = await createTask(member.client, {
      title: 'All',
      content: block([part('A', '```sh\ntrue\n```'), inner]),
    });
    const [a, b] = await bench.waiting(id, 2);
    const [c = { id: '' }] = await bench.waiting(b?.id ?? '', 1);
    await bench.asks(c.id);
    await bench.ended(a?.id ?? '');
    expect((await mw('show', id, '--tree')).out.trim().split('\n')).toEqual([
      `${id}  queued          All (waiting_for_tasks)`,
      `${a?.id}  completed       ├─ A`,
      `${b?.id}  queued          └─ B (waiting_for_tasks)`,
      `${c.id}  awaiting_input     └─ C: Which one?`,
    ]);
    expect(JSON.parse((await mw('show', id, '--tree', '--json')).out)).toMatchObject({
      id,
      tasks: [
        { id: a?.id, tasks: [] },
        { id: b?.id, tasks: [{ id: c.id, parentTaskId: b?.id }] },
      ],
    });
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const listed = [];
    for await (const task of tasks.list({ parentTaskId: id })) listed.push(task.id);
    expect(listed).toEqual([b?.id, a?.id]);
    expect((await mw('answer', c.id, '--text', 'This.')).code).toBe(0);
    expect(await bench.ended(id)).toMatchObject({ status: 'completed', children: { tasks: 3 } });
  });
});
