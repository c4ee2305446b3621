import { readdirSync } from 'node:fs';
import { bootWorker } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ModelServer, stepOf } from '../harness/model-server.js';
import { LONG } from '../harness/numbers.js';
import { createTask, finished, readMessages } from '../harness/tasks.js';
import { childrenOf, commandLine } from '../harness/processes.js';
import { until } from '../harness/until.js';

/** The long form: `npm run test:processes -- --long many-tasks` before a release. */
const TASKS = LONG ? 200 : 40;
const STEPS = 10;
/** As many as a workspace of the default plan, on a worker of the default size. */
const AT_ONCE = 12;

const descriptors = () => readdirSync('/proc/self/fd').length;
/** Those that wait for the next folder, for a minute (docs/decisions/0091): two at most. */
const isReader = (pid: number) => commandLine(pid).includes('capture.child.mjs');
const readers = () => childrenOf(process.pid).filter(isReader).length;
const others = () => childrenOf(process.pid).filter((pid) => !isReader(pid)).length;

// Nine of ten steps are real commands or files in the sandbox.
const TOOLS = [
  { name: 'bash', arguments: { command: 'echo "$RANDOM" >> log.txt; wc -l < log.txt' } },
  { name: 'write', arguments: { path: 'src/a.txt', content: 'alpha\nbeta\n' } },
  { name: 'read', arguments: { path: 'src/a.txt' } },
  { name: 'todo', arguments: { items: [{ text: 'go on', status: 'in_progress' }] } },
  { name: 'edit', arguments: { path: 'src/a.txt', oldText: 'beta', newText: 'gamma' } },
  { name: 'grep', arguments: { pattern: 'gamma' } },
  { name: 'bash', arguments: { command: 'cat src/a.txt' } },
  { name: 'glob', arguments: { pattern: '**/*.txt' } },
  { name: 'edit', arguments: { path: 'src/a.txt', oldText: 'gamma', newText: 'beta' } },
  { name: 'publish', arguments: { path: 'log.txt' } },
];

describe('Many tasks at once', () => {
  it(`${TASKS} tasks of ${STEPS} tool steps, ${AT_ONCE} at once: all complete, messages in order, nothing left behind`, async () => {
    const model = await ModelServer.start((request) => {
      const step = stepOf(request);
      const call = TOOLS[step];
      return call === undefined ? { text: 'Done.' } : { text: `Step ${step}.`, calls: [call] };
    });
    const service = await bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
    const { client } = await makeMember(service);
    const before = { descriptors: descriptors(), children: others() };
    const ids: string[] = [];
    for (let n = 0; n < TASKS; n++) ids.push((await createTask(client, { content: `Task ${n}` })).id);
    await until(
      'all tasks to be over',
      async () => {
        const [row] = await service.db.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM tasks WHERE status IN ('completed', 'failed', 'cancelled')`,
        );
        return row?.n === TASKS;
      },
      { within: 240_000, every: 250 },
    );
    for (const id of ids) {
      expect(await finished(client, id)).toMatchObject({
        status: 'completed',
        usage: { steps: STEPS + 1, toolCalls: STEPS },
      });
      const messages = await readMessages(client, id);
      const told = messages.map(({ parts }) =>
        parts.map(({ text, type, name, status }) => text ?? [type, name, status].filter(Boolean).join(' ')),
      );
      const steps = TOOLS.map(({ name }, step) => [
        `Step ${step}.`,
        `tool_call ${name}`,
        `tool_result ${name} success`,
      ]);
      expect(told.slice(1)).toEqual([...steps, ['Done.']]);
    }
    // Pools and sockets are opened by the load itself and give back what is idle: a leak would be one per step.
    await until('descriptors to be given back', () => descriptors() < before.descriptors + 60, {
      within: 150_000,
      every: 200,
    });
    await until('no process to be left', () => others() <= before.children && readers() <= 2);
    await service.close();
    await model.stop();
  }, 300_000);
});
