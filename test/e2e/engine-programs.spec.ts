// The programs that are known to work as engines, as `engine install` lays them down (reference §30). By hand:
// ENGINE_PROGRAMS names the folder that has theirs, each under its name.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KNOWN_ENGINES } from '../../src/engine/engines/known-engines.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, type FakeCall, FakeModel, type FakeRequest } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf } from '../harness/engines/worker.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { describeDrivers } from '../harness/sandboxes.js';
import { createTask, readMessages, readResults, readTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const FOLDER = process.env['ENGINE_PROGRAMS'] ?? '';
const SHELLS: Record<string, (command: string) => FakeCall> = {
  codex: (cmd) => ({ name: 'exec_command', arguments: { cmd, yield_time_ms: 30_000 } }),
  'claude-code': (command) => ({ name: 'Bash', arguments: { command, description: 'A command' } }),
  opencode: (command) => ({ name: 'bash', arguments: { command, description: 'A command' } }),
};
/** How each names a tool of the service. */
const OWN: Record<string, (name: string) => { name: string; namespace?: string }> = {
  codex: (name) => ({ name, namespace: 'mcp__millwright' }),
  'claude-code': (name) => ({ name: `mcp__millwright__${name}` }),
  opencode: (name) => ({ name: `millwright_${name}` }),
};
const names = [...KNOWN_ENGINES.keys()].filter((name) => FOLDER !== '' && existsSync(join(FOLDER, name)));
/** A program takes up to a minute to start where others work too. */
const LATE = { within: 300_000 };
const MINUTES = 600_000;

const told = ({ messages }: FakeRequest) =>
  messages.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join('\n');

(names.length === 0 ? describe.skip : describe)('Programs that are known (reference §30)', () => {
  describeDrivers((driver) => {
    let model: FakeModel;
    let ann: Member;
    const service = useService(async () => {
      model = await FakeModel.start();
      const engines = names.map((name) => {
        const { env, ...definition } = KNOWN_ENGINES.get(name)?.definition ?? engineOf();
        return [name, { ...definition, env: env ?? {}, path: join(FOLDER, name), startSeconds: 120 }] as const;
      });
      const sandbox = { processes: 512, memoryBytes: 4 * 1024 ** 3 };
      return bootWithEngines(model, Object.fromEntries(engines), { config: { sandbox }, env: { SANDBOX: driver } });
    });
    beforeAll(async () => (ann = await makeMember(service)));
    beforeEach(() => {
      model.requests.length = 0;
      model.script = byScript;
    });
    afterAll(() => model.stop());

    const shell = (name: string, command: string) =>
      SHELLS[name]?.(command) ?? { name: 'shell', arguments: { command } };
    const own = (name: string, tool: string, input: object): FakeCall => {
      return { ...(OWN[name]?.(tool) ?? { name: tool }), arguments: input };
    };
    const begin = (id: string, content: string, more: Record<string, unknown> = {}) => {
      return createTask(ann.client, { model: id, content, ...more });
    };
    const ended = (id: string): Promise<TaskBody> => {
      const over = async () => {
        const task = await readTask(ann.client, id);
        return task.finishedAt === null ? null : task;
      };
      return until('the task to have ended', over, LATE);
    };
    const send = async (id: string, content: string, mode?: string) => {
      expect((await ann.client.post(`/v1/tasks/${id}/messages`, { content, mode })).status).toBe(202);
    };
    /** Makes these calls, one a step, then says the words; and other words as soon as a person has said something of them. */
    const callsUntil = (calls: FakeCall[], said: string, words: string) => {
      model.script = (request) => {
        if (request.tools.length === 0) return { text: 'Aside.' };
        if (told(request).includes(said)) return { text: words };
        const done = request.messages.filter(({ role, calls: made }) => role === 'assistant' && made.length > 0).length;
        const next = calls[done];
        return next === undefined ? { text: 'Nobody said it.' } : { calls: [next] };
      };
    };

    it.each(names)(
      'carry out a task, and go on with it: %s',
      async (id) => {
        const first = { text: 'I write.', calls: [shell(id, 'echo hello > f; cat f')] };
        const task = await begin(id, script(first, { text: 'Written.' }));
        expect(await ended(task.id)).toMatchObject({ result: { text: 'Written.' }, usage: { steps: 2 } });
        await send(task.id, script({ calls: [shell(id, 'cat f')] }, { text: 'Read.' }));
        expect(await ended(task.id)).toMatchObject({ result: { text: 'Read.' }, usage: { steps: 4 } });
        for (const { output } of await readResults(ann.client, task.id)) expect(output).toContain('hello');
        expect(await readMessages(ann.client, task.id)).toHaveLength(6);
      },
      MINUTES,
    );

    it.each(names)(
      'wait for a person who approves a call, and make it once: %s',
      async (id) => {
        const asks = script({ calls: [shell(id, 'echo once >> log; cat log')] }, { text: 'Done.' });
        const task = await begin(id, asks, { approvals: 'writes' });
        await until('the task to ask', async () => (await readTask(ann.client, task.id)).pendingInteraction, LATE);
        const approval = await approvalOf(ann.client, task.id);
        expect(await readResults(ann.client, task.id)).toEqual([]);
        await answerApproval(ann.client, task.id, approval, { decision: 'approve' });
        expect((await ended(task.id)).result?.text).toBe('Done.');
        const [result] = await readResults(ann.client, task.id);
        expect(String(result?.output).match(/once/g)).toHaveLength(1);
      },
      MINUTES,
    );

    it.each(names)(
      'ask a person by `ask`, and are told the answer: %s',
      async (id) => {
        callsUntil([own(id, 'ask', { question: 'Which colour?' })], 'Green.', 'Green it is.');
        const task = await begin(id, 'Paint it.');
        const asked = async () => (await readTask(ann.client, task.id)).pendingInteraction;
        const question = await until('the task to ask', asked, LATE);
        expect(question).toMatchObject({ type: 'question', question: 'Which colour?' });
        const answer = { interactionId: question.id, content: 'Green.' };
        expect((await ann.client.post(`/v1/tasks/${task.id}/interaction`, answer)).status).toBe(202);
        expect(await ended(task.id)).toMatchObject({ status: 'completed', result: { text: 'Green it is.' } });
      },
      MINUTES,
    );

    it.each(names)(
      'hand files over by `publish`: %s',
      async (id) => {
        const calls = [shell(id, 'echo hello > f.txt'), own(id, 'publish', { path: 'f.txt' })];
        callsUntil(calls, 'never said', '');
        const task = await begin(id, 'Hand it over.');
        const { status, result } = await ended(task.id);
        expect(status).toBe('completed');
        expect((await readResults(ann.client, task.id)).map((one) => one.status)).toEqual(['success', 'success']);
        expect(result?.fileIds).toHaveLength(1);
      },
      MINUTES,
    );

    it.each(names)(
      'hear a message that steers at their next model call: %s',
      async (id) => {
        callsUntil([shell(id, 'sleep 5; echo slept')], 'Make it blue.', 'Blue it is.');
        const task = await begin(id, 'Begin.');
        const called = async () => (await readTask(ann.client, task.id)).usage['steps'] === 1;
        await until('a call', called, LATE);
        await send(task.id, 'Make it blue.', 'steer');
        expect(await ended(task.id)).toMatchObject({ status: 'completed', result: { text: 'Blue it is.' } });
        const [result] = await readResults(ann.client, task.id);
        expect(result?.output).toContain('slept');
        const steps = model.requests.filter(({ tools }) => tools.length > 0);
        expect(steps).toHaveLength(2);
      },
      MINUTES,
    );

    it.each(names)(
      'are ended by a message that interrupts, which is the next prompt: %s',
      async (id) => {
        const mark = newMark();
        callsUntil([shell(id, `sleep ${mark}`)], 'Stop that.', 'Stopped.');
        const task = await begin(id, 'Begin.');
        await until('a call', async () => (await readTask(ann.client, task.id)).usage['steps'] === 1, LATE);
        await sleeps(mark);
        await send(task.id, 'Stop that.', 'interrupt');
        await processesGone(mark, 30_000);
        expect(await ended(task.id)).toMatchObject({ status: 'completed', result: { text: 'Stopped.' } });
        expect(await readResults(ann.client, task.id)).toMatchObject([{ status: 'error' }]);
      },
      MINUTES,
    );

    it.each(names)(
      'are ended with all that they run when their task is cancelled: %s',
      async (id) => {
        const mark = newMark();
        callsUntil([shell(id, `sleep ${mark}`)], 'never said', '');
        const task = await begin(id, 'Begin.');
        await until('a call', async () => (await readTask(ann.client, task.id)).usage['steps'] === 1, LATE);
        await sleeps(mark);
        await ann.client.post(`/v1/tasks/${task.id}/cancel`);
        await processesGone(mark, 30_000);
        expect((await ended(task.id)).status).toBe('cancelled');
      },
      MINUTES,
    );

    it.each(names)(
      'end with their budget, before the model is called once more: %s',
      async (id) => {
        callsUntil(
          ['one', 'two', 'three'].map((word) => shell(id, `echo ${word}`)),
          'never said',
          '',
        );
        const task = await begin(id, 'Begin.', { budget: { maxSteps: 2 } });
        expect(await ended(task.id)).toMatchObject({
          statusReason: { code: 'budget_exceeded' },
          usage: { steps: 2 },
        });
        expect(model.requests.filter(({ tools }) => tools.length > 0)).toHaveLength(2);
        const outputs = (await readResults(ann.client, task.id)).map(({ output }) => String(output));
        expect(outputs).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
      },
      MINUTES,
    );

    it.each(names)(
      'are tried again while their provider fails, and end with it, without tries of their own: %s',
      async (id) => {
        const words = script({ status: 503 }, { calls: [shell(id, 'echo hello')] }, { status: 503 }, { text: 'Done.' });
        const task = await begin(id, words);
        expect(await ended(task.id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
        const tries = () => model.requests.filter(({ tools }) => tools.length > 0).length;
        expect(tries()).toBe(4);
        model.requests.length = 0;
        model.script = ({ tools }) => (tools.length > 0 ? { status: 400 } : { text: 'Aside.' });
        const failing = await begin(id, 'Begin.');
        expect(await ended(failing.id)).toMatchObject({ status: 'failed', statusReason: { code: 'model_error' } });
        expect(tries()).toBe(1);
      },
      MINUTES,
    );
  });
});
