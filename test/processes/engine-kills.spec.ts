import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../harness/client.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { engineOf, shell } from '../harness/engines/worker.js';
import { LONG } from '../harness/numbers.js';
import { newMark, processesGone } from '../harness/processes.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, readMessages, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const STEPS = 6;
const KILLS = LONG ? 5 : 2;
const INTERRUPTED = /^This was interrupted/;

describe('A worker that is killed while a program drives a task (reference §30)', () => {
  const folder = temporaryFolder();
  const mark = newMark();
  let [model, service] = [] as unknown as [FakeModel, ServiceProcess];
  let secret = '';
  let env: Record<string, string>;
  beforeAll(async () => {
    model = await FakeModel.start();
    const path = join(folder.path, 'millwright.json');
    const about = { provider: 'openai-compatible', baseUrl: model.url };
    const models = ['silent', 'telling'].map((id) => ({ id, engine: id, ...about }));
    const engines = { silent: engineOf({ SILENT: '1', MARK: mark }), telling: engineOf({ MARK: mark }) };
    writeFileSync(path, JSON.stringify({ titles: false, engines, models }));
    env = { DATA_DIR: folder.path, CONFIG_FILE: path, LEASE_SECONDS: '4' };
    service = await ServiceProcess.start(env);
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    ({ secret } = (await operator.json<{ key: { secret: string } }>('key', 'create', ...who)).key);
  }, 180_000);
  afterAll(async () => {
    await service?.end('SIGKILL');
    await model.stop();
    folder.remove();
  });

  const client = () => new Client(service.url, secret);
  const again = async (signal: 'SIGKILL' | 'SIGTERM') => {
    await service.end(signal);
    service = await ServiceProcess.start(env);
  };

  it.each(['silent', 'telling'])(
    'has each call carried out once at most, and on record: %s',
    async (id) => {
      // Each call is another one, so that a line in the file says by which it was written.
      model.script = ({ messages }) => {
        const done = messages.filter(({ role, calls }) => role === 'assistant' && calls.length > 0).length;
        if (done >= STEPS) return { text: 'Done.' };
        return { calls: [shell(`sleep 0.3; echo ${randomUUID()} >> log`), shell('cat log')] };
      };
      const task = await createTask(client(), { content: 'Begin.', model: id });
      for (let kill = 0; kill < KILLS; kill++) {
        const before = (await readTask(client(), task.id)).usage['steps'] ?? 0;
        await until(
          'a step',
          async () => {
            const now = await readTask(client(), task.id);
            return now.finishedAt !== null || (now.usage['steps'] ?? 0) > before;
          },
          { within: 120_000 },
        );
        await pause(Math.random() * 800);
        await again(kill % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      }
      const over = async () => (await readTask(client(), task.id)).finishedAt !== null;
      await until('the task to end', over, { within: 180_000 });
      const ended = await readTask(client(), task.id);
      expect(ended).toMatchObject({ status: 'completed', statusReason: null, result: { text: 'Done.' } });
      const messages = await readMessages(client(), task.id);
      expect(messages.filter(({ status }) => status !== 'complete')).toEqual([]);
      const parts = messages.flatMap((message) => message.parts);
      const calls = parts.filter(({ type }) => type === 'tool_call');
      const results = await readResults(client(), task.id);
      expect(results).toHaveLength(calls.length);
      for (const { status, error } of results) if (status === 'error') expect(error).toMatch(INTERRUPTED);
      const log = String(results.findLast(({ status, output }) => status === 'success' && output !== '')?.output);
      const lines = log.trim().split('\n');
      expect(new Set(lines).size).toBe(lines.length);
      const asked = calls.map(({ input }) => (input as { command: string }).command);
      for (const line of lines) expect(asked.filter((command) => command.includes(line))).toHaveLength(1);
      const written = asked.filter(
        (command, index) => command.includes('>> log') && results[index]?.status === 'success',
      );
      for (const command of written) expect(lines.filter((line) => command.includes(line))).toHaveLength(1);
    },
    600_000,
  );

  it('leaves no program behind', async () => {
    await service.end('SIGKILL');
    await processesGone(mark, 20_000);
  }, 60_000);
});
