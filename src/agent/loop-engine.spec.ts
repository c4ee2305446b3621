import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { AgentBench, assistant, call, user } from '../../test/harness/agent.js';
import { type Script, steps, userText } from '../../test/harness/model-server.js';
import { SandboxError } from '../sandbox/sandbox.js';
import type { AgentEvent } from './agent-engine.js';

let bench: AgentBench;
async function start(script?: Script): Promise<AgentBench> {
  bench = await AgentBench.start(script);
  return bench;
}
// What an operator is told goes to the log, not into the test's output.
beforeAll(() => Logger.overrideLogger(false));
afterAll(() => Logger.overrideLogger(['log']));
afterEach(() => bench.close());

const bash = (command: string, id?: string) => ({
  name: 'bash',
  arguments: { command },
  ...(id === undefined ? {} : { id }),
});
const kinds = (events: AgentEvent[]) => events.map((event) => event.type);
const results = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));

describe('the loop', () => {
  it('calls the model, carries out its tools and ends with its last text', async () => {
    await start(
      steps(
        { reasoning: 'Let me look.', text: 'I look.', calls: [bash('echo one > a.txt; cat a.txt')] },
        { text: 'It says one.', usage: { input: 50, output: 5, cached: 40, reasoning: 2 } },
      ),
    );
    const { outcome, events } = await bench.run(bench.input('What does a.txt say?'));
    expect(outcome).toEqual({ type: 'completed', text: 'It says one.' });
    expect(kinds(events)).toEqual(['step', 'tool', 'step']);
    expect(events[0]).toMatchObject({
      parts: [
        { type: 'step_start' },
        { type: 'reasoning', text: 'Let me look.' },
        { type: 'text', text: 'I look.' },
        { type: 'tool' },
      ],
      calls: [{ name: 'bash', input: { command: 'echo one > a.txt; cat a.txt' } }],
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    expect(results(events)).toEqual([
      { status: 'success', output: { exitCode: 0, stdout: 'one\n', stderr: '', truncated: false } },
    ]);
    expect(events[2]).toMatchObject({
      calls: [],
      usage: { inputTokens: 50, outputTokens: 5, cachedInputTokens: 40, reasoningTokens: 2 },
    });
    const second = bench.server?.requests[1]?.body;
    expect(second?.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(second?.messages[3]?.content).toContain('one\\n');
    expect(second?.tools?.map((tool) => tool.function.name)).toEqual(
      'ask bash edit glob grep publish read todo write'.split(' '),
    );
    expect(bench.server?.requests[0]?.authorization).toBe('Bearer key');
    expect(bench.sandbox).toMatchObject({ opened: 1, closed: 1 });
  });

  it('opens no sandbox for a turn without tools', async () => {
    await start(steps({ text: 'Hello.' }));
    expect((await bench.run(bench.input('Hi'))).outcome).toEqual({ type: 'completed', text: 'Hello.' });
    expect(bench.sandbox.opened).toBe(0);
  });

  it('carries out parallel calls in order, records each before the next, and makes their ids unique', async () => {
    await start(
      steps(
        { calls: [bash('echo 1 >> log', 'same'), bash('echo 2 >> log', 'same'), bash('cat log', 'same')] },
        { calls: [bash('echo again', 'same')] },
        { text: 'Done.' },
      ),
    );
    const seen: string[] = [];
    const { events } = await bench.run(bench.input('Go'), (event) => {
      const log = join(bench.sandbox.folder, 'log');
      if (event.type === 'tool') seen.push(readFileSync(log, 'utf8').trim().replaceAll('\n', ''));
      return [];
    });
    expect(seen.slice(0, 3)).toEqual(['1', '12', '12']);
    const ids = events.flatMap((event) => (event.type === 'step' ? event.calls.map((one) => one.toolCallId) : []));
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('same');
    expect(events.map((event) => event.type === 'tool' && event.last)).toEqual([
      ...[false, false, false, true],
      ...[false, true, false],
    ]);
  });

  it('puts a question last, ends the run, and goes on with the answer', async () => {
    const ask = (question: string) => ({ name: 'ask', arguments: { question } });
    await start(steps({ calls: [ask('First?'), bash('echo ran'), ask('Second?')] }, { text: 'Thanks.' }));
    const input = bench.input('Ask me');
    const first = await bench.run(input);
    expect(kinds(first.events)).toEqual(['step', 'tool']);
    expect(first.events[1]).toMatchObject({ type: 'tool', last: false });
    const [asked, ran, other] = input.messages[1]?.invocations ?? [];
    expect(first.outcome).toMatchObject({
      type: 'question',
      toolCallId: asked?.toolCallId,
      question: { question: 'First?', options: null, multiple: false, allowText: true },
    });
    expect(ran?.result?.status).toBe('success');

    Object.assign(asked ?? {}, {
      result: { status: 'success', output: { content: 'one', options: [], files: [] } },
    });
    const second = await bench.run(input);
    expect(second.events).toEqual([]);
    expect(second.outcome).toMatchObject({ type: 'question', toolCallId: other?.toolCallId });

    Object.assign(other ?? {}, {
      result: { status: 'success', output: { content: 'two', options: [], files: [] } },
    });
    expect((await bench.run(input)).outcome).toEqual({ type: 'completed', text: 'Thanks.' });
    expect(bench.sandbox.commands).toEqual(['echo ran']);
  });

  it('reads messages that arrive on the way before the next model call, and after the last', async () => {
    await start((request) => {
      if (userText(request) === 'Stop after this.') return { text: 'Stopped.' };
      if (userText(request) === 'One more thing.') return { text: 'That too.' };
      return { calls: [bash('true')] };
    });
    const steered = ['Stop after this.', 'One more thing.'];
    const { outcome, events } = await bench.run(bench.input('Go'), (event) => {
      const text = event.type === 'tool' || steered.length === 1 ? steered.shift() : undefined;
      return text === undefined ? [] : [user(text)];
    });
    expect(kinds(events)).toEqual(['step', 'tool', 'step', 'step']);
    expect(outcome).toEqual({ type: 'completed', text: 'That too.' });
  });

  it('lays input files into the workdir once, and never over what is there', async () => {
    await start(steps({ calls: [bash('cat attachments/a.txt; echo mine > attachments/a.txt')] }, { text: 'Ok.' }));
    const files = [{ path: 'attachments/a.txt', open: () => Promise.resolve(Readable.from([Buffer.from('given')])) }];
    const { events } = await bench.run(bench.input('Read it', { files }));
    expect(results(events)[0]).toMatchObject({ output: { stdout: 'given' } });
    await bench.run(bench.input('Read it again', { files }));
    expect(readFileSync(join(bench.sandbox.folder, 'attachments/a.txt'), 'utf8')).toBe('mine\n');
  });

  it('hands over a published file with its result', async () => {
    await start(
      steps({ calls: [{ name: 'publish', arguments: { path: 'r.txt', name: 'Report.txt' } }] }, { text: 'Ok.' }),
    );
    writeFileSync(join(bench.sandbox.folder, 'r.txt'), 'content');
    let content = '';
    const running = bench.run(bench.input('Publish'), async (event) => {
      const file = event.type === 'tool' ? event.files[0] : undefined;
      if (file !== undefined) content = (await buffer(file.content)).toString();
      return [];
    });
    const { events } = await running;
    expect(content).toBe('content');
    const [tool] = events.filter((event) => event.type === 'tool');
    expect(tool).toMatchObject({
      files: [{ name: 'Report.txt' }],
      result: { output: { name: 'Report.txt', size: 7 } },
    });
  });
});

describe('after a crash', () => {
  const request = () => user('Go');

  it('does not run a command again that may have run, and starts those after it', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const open = assistant(
      '',
      call('a', 'bash', { command: 'echo a >> log' }),
      call('b', 'bash', { command: 'echo b >> log' }),
    );
    const { outcome, events } = await bench.run(bench.input([request(), open]));
    expect(results(events)[0]).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/restart.*may have run partly/) as string,
    });
    expect(bench.sandbox.commands).toEqual(['echo b >> log']);
    expect(events.slice(0, 2)).toMatchObject([{ last: false }, { last: true }]);
    expect(outcome).toEqual({ type: 'completed', text: 'Fine.' });
  });

  it('between two tools keeps the first result', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const done = call('a', 'bash', { command: 'echo a' }, { status: 'success', output: 'a' });
    const open = assistant('', done, call('b', 'write', { path: 'b.txt', content: 'b' }));
    const { events } = await bench.run(bench.input([request(), open]));
    expect(kinds(events)).toEqual(['tool', 'step']);
    expect(events[0]).toMatchObject({ toolCallId: 'b', result: { status: 'success' }, last: true });
    expect(existsSync(join(bench.sandbox.folder, 'b.txt'))).toBe(true);
  });

  it('after the last tool goes on with the model', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const done = assistant('', call('a', 'bash', { command: 'echo a' }, { status: 'success', output: 'a' }));
    const { outcome, events } = await bench.run(bench.input([request(), done]));
    expect(kinds(events)).toEqual(['step']);
    expect(outcome).toEqual({ type: 'completed', text: 'Fine.' });
  });

  it('asks again, and still knows which command may have run beside the question', async () => {
    await start(steps({ text: 'never' }));
    const open = assistant('', call('q', 'ask', { question: 'Well?' }), call('a', 'bash', { command: 'echo a' }));
    const { outcome, events } = await bench.run(bench.input([request(), open]));
    expect(events).toMatchObject([{ toolCallId: 'a', result: { status: 'error' }, last: false }]);
    expect(outcome).toMatchObject({ type: 'question', toolCallId: 'q' });
  });

  it('ends a turn whose last answer is on record without calling the model', async () => {
    await start(steps({ text: 'never' }));
    const { outcome } = await bench.run(bench.input([request(), assistant('All done.')]));
    expect(outcome).toEqual({ type: 'completed', text: 'All done.' });
    expect(bench.server?.requests).toEqual([]);
  });

  it('ends it as failed when that is how it ended', async () => {
    await start(steps({ text: 'Half an', finish: 'length' }));
    const input = bench.input('Go');
    const failed = { type: 'failed', code: 'output_limit' };
    expect((await bench.run(input)).outcome).toMatchObject(failed);
    expect((await bench.run(input)).outcome).toMatchObject(failed);
    expect(bench.server?.requests.length).toBe(1);
  });
});

describe('limits', () => {
  const forever: Script = (request) => ({ calls: [bash(`echo ${request.messages.length}`)] });

  it.each([
    ['steps', { maxSteps: 3 }, { steps: 1, tokens: 0, durationMs: 0 }, 2],
    ['tokens', { maxTokens: 500 }, { steps: 0, tokens: 200, durationMs: 0 }, 3],
    ['duration', { maxDurationSeconds: 60 }, { steps: 0, tokens: 0, durationMs: 60_000 }, 0],
  ])('ends a turn that used up its budget of %s, what earlier runs spent included', async (_, budget, spent, calls) => {
    await start(forever);
    const { outcome } = await bench.run(bench.input('Go', { budget, spent }));
    expect(outcome).toMatchObject({ type: 'failed', code: 'budget_exceeded', retryable: false });
    expect(bench.server?.requests.length).toBe(calls);
  });

  it('ends a turn that never stops', async () => {
    await start(forever);
    bench.settings.stepsPerTurn = 4;
    const { outcome } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'step_limit' });
    expect(bench.server?.requests.length).toBe(4);
  });

  it('refuses the third same call in a row and fails at the sixth', async () => {
    await start(() => ({ calls: [bash('echo same')] }));
    const { outcome, events } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'no_progress' });
    expect(results(events).map((result) => result.status)).toEqual([
      ...['success', 'success', 'error'],
      ...['error', 'error', 'error'],
    ]);
    expect(bench.sandbox.commands.length).toBe(2);
  });

  it('fails when the sandbox does not work, and leaves no call open', async () => {
    await start(steps({ calls: [bash('one'), bash('two')] }));
    bench.sandbox.broken = new SandboxError('bwrap: /secret/path');
    const { outcome, events } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'sandbox_unavailable', retryable: true });
    expect(JSON.stringify([outcome, events])).not.toContain('/secret');
    expect(events.slice(1)).toMatchObject([{ last: false }, { last: true }]);
  });

  it('fails at once for a model that is gone', async () => {
    await start(forever);
    const { outcome } = await bench.run(bench.input('Go', { model: { id: 'gone', effort: null } }));
    expect(outcome).toMatchObject({ type: 'failed', code: 'model_not_available' });
  });
});

describe('stopping', () => {
  it('stops at once while the model is silent', async () => {
    await start(() => ({ hang: true }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until(() => bench.server?.requests.length === 1);
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('stops at once while a command hangs, and closes the sandbox', async () => {
    await start(steps({ calls: [bash('sleep 1000')] }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until(() => bench.sandbox.commands.length === 1);
    const reason = new Error('fenced off');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(bench.sandbox).toMatchObject({ opened: 1, closed: 1 });
  });

  it('does not begin when it is stopped already', async () => {
    await start(steps({ text: 'never' }));
    const reason = new Error('cancelled');
    await expect(bench.run(bench.input('Go', { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(bench.server?.requests).toEqual([]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
}
