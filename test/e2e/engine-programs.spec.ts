// The programs that are known to work as engines, as `engine install` lays them down (reference §30). By hand:
// ENGINE_PROGRAMS names the folder that has theirs, each under its name.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KNOWN_ENGINES } from '../../src/engine/engines/known-engines.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type FakeCall, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf } from '../harness/engines/worker.js';
import { createTask, finishedLater, readMessages, readResults, script } from '../harness/tasks.js';

const FOLDER = process.env['ENGINE_PROGRAMS'] ?? '';
const SHELLS: Record<string, (command: string) => FakeCall> = {
  codex: (cmd) => ({ name: 'exec_command', arguments: { cmd } }),
  'claude-code': (command) => ({ name: 'Bash', arguments: { command, description: 'A command' } }),
  opencode: (command) => ({ name: 'bash', arguments: { command, description: 'A command' } }),
};
const names = [...KNOWN_ENGINES.keys()].filter((name) => FOLDER !== '' && existsSync(join(FOLDER, name)));

(names.length === 0 ? describe.skip : describe)('Programs that are known (reference §30)', () => {
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = names.map((name) => {
      const { env, ...definition } = KNOWN_ENGINES.get(name)?.definition ?? engineOf();
      return [name, { ...definition, env: env ?? {}, path: join(FOLDER, name), startSeconds: 120 }] as const;
    });
    const sandbox = { processes: 512, memoryBytes: 4 * 1024 ** 3 };
    return bootWithEngines(model, Object.fromEntries(engines), { config: { sandbox } });
  });
  beforeAll(async () => (ann = await makeMember(service)));
  beforeEach(() => (model.requests.length = 0));
  afterAll(() => model.stop());

  const shell = (name: string, command: string) => SHELLS[name]?.(command) ?? { name: 'shell', arguments: { command } };

  it.each(names)(
    'carry out a task, go on with it, and wait for a person: %s',
    async (id) => {
      const first = { text: 'I write.', calls: [shell(id, 'echo hello > f; cat f')] };
      const task = await createTask(ann.client, { model: id, content: script(first, { text: 'Written.' }) });
      expect(await finishedLater(ann.client, task.id)).toMatchObject({
        result: { text: 'Written.' },
        usage: { steps: 2 },
      });
      const content = script({ calls: [shell(id, 'cat f')] }, { text: 'Read.' });
      await ann.client.post(`/v1/tasks/${task.id}/messages`, { content });
      expect(await finishedLater(ann.client, task.id)).toMatchObject({
        result: { text: 'Read.' },
        usage: { steps: 4 },
      });
      for (const { output } of await readResults(ann.client, task.id)) expect(output).toContain('hello');
      expect(await readMessages(ann.client, task.id)).toHaveLength(6);

      const asks = script({ calls: [shell(id, 'echo once >> log; cat log')] }, { text: 'Done.' });
      const asking = await createTask(ann.client, { model: id, approvals: 'writes', content: asks });
      const approval = await approvalOf(ann.client, asking.id);
      expect(await readResults(ann.client, asking.id)).toEqual([]);
      await answerApproval(ann.client, asking.id, approval, { decision: 'approve' });
      expect((await finishedLater(ann.client, asking.id)).result?.text).toBe('Done.');
      const [result] = await readResults(ann.client, asking.id);
      expect(String(result?.output).match(/once/g)).toHaveLength(1);
    },
    400_000,
  );
});
