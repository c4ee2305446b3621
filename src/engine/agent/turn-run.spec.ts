import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import { type Script, steps } from '../../../test/harness/model-server.js';
import type { JsonValue } from '../models/conversation.js';
import { SandboxError } from '../sandbox/sandbox.js';
import type { AgentEvent } from './agent-engine.js';
import { GOING_ON } from './tools/bash-output.js';

let bench: AgentBench;
async function start(script?: Script): Promise<AgentBench> {
  bench = await AgentBench.start(script);
  return bench;
}
// What an operator is told goes to the log, not into the test's output.
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const kinds = (events: AgentEvent[]) => events.map((event) => event.type);
const results = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));

/** Each built-in tool with arguments that work on a file `a.txt`, and what becomes of a call that a crash has left open. */
const TOOLS: [string, JsonValue, string][] = [
  ['ask', { question: 'Well?' }, 'is asked again'],
  ['bash', { command: 'echo new > a.txt' }, 'is not carried out again'],
  ['bash_input', { id: 'b1', text: 'x' }, 'is not carried out again'],
  ['bash_output', {}, 'is carried out again'],
  ['bash_stop', { id: 'b1' }, 'is not carried out again'],
  ['edit', { path: 'a.txt', oldText: 'old', newText: 'new' }, 'is not carried out again'],
  ['glob', { pattern: '*' }, 'is carried out again'],
  ['grep', { pattern: 'old' }, 'is carried out again'],
  ['publish', { path: 'a.txt' }, 'is carried out again'],
  ['read', { path: 'a.txt' }, 'is carried out again'],
  ['todo', { items: [] }, 'is carried out again'],
  ['write', { path: 'b.txt', content: 'new' }, 'is carried out again'],
];

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
      error: expect.stringMatching(/was interrupted; it may have run partly/) as unknown,
    });
    expect(bench.sandbox.commands).toEqual(['echo b >> log']);
    expect(events.slice(0, 2)).toMatchObject([{ last: false }, { last: true }]);
    expect(outcome).toEqual({ type: 'completed', text: 'Fine.' });
  });

  it.each(TOOLS)('a call of %s with %j that it has left open %s', async (name, input, what) => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const file = join(bench.sandbox.folder, 'a.txt');
    writeFileSync(file, 'old\n');
    const { outcome, events } = await bench.run(bench.input([request(), assistant('', call('a', name, input))]));
    if (what === 'is asked again') {
      expect([events, outcome]).toMatchObject([[], { type: 'question', toolCallId: 'a' }]);
      return;
    }
    const interrupted = { status: 'error', error: expect.stringMatching(/may have run partly/) as unknown };
    expect(results(events)).toMatchObject([what === 'is carried out again' ? { status: 'success' } : interrupted]);
    expect(readFileSync(file, 'utf8')).toBe('old\n');
    expect(outcome).toEqual({ type: 'completed', text: 'Fine.' });
  });

  it.each([
    [undefined, false],
    [false, false],
    [true, true],
    ['true', true],
  ])('a command that is called with repeatable: %j is carried out again: %s', async (repeatable, again) => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const input = { command: 'echo ran', ...(repeatable === undefined ? {} : { repeatable }) };
    for (const approvals of ['none', 'writes', 'secrets'] as const) {
      // With approvals a call that is never run twice is on record as begun.
      const stage = approvals === 'none' ? null : again ? 'approved' : 'begun';
      const open = assistant('', call(`a${approvals}`, 'bash', input, null, stage));
      const { events } = await bench.run(bench.input([request(), open], { approvals }));
      const ran = { status: 'success', output: { stdout: 'ran\n' } };
      const interrupted = { status: 'error', error: expect.stringMatching(/may have run partly/) as unknown };
      expect(results(events)).toMatchObject([again ? ran : interrupted]);
      expect(events.filter(({ type }) => type === 'begin')).toEqual([]);
    }
  });

  it('says so of every built-in tool', async () => {
    await start(steps({ text: 'never' }));
    const names = bench.registry.definitions(false, GOING_ON).map((tool) => tool.name);
    expect(names.sort()).toEqual(TOOLS.map(([name]) => name));
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
    await start(() => ({ text: 'Half an', finish: 'length' }));
    bench.settings.continuations = 0;
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
    ['steps', { maxSteps: 3 }, { steps: 1, tokens: 0, durationMs: 0, costMicros: 0 }, 2],
    ['tokens', { maxTokens: 500 }, { steps: 0, tokens: 200, durationMs: 0, costMicros: 0 }, 3],
    ['duration', { maxDurationSeconds: 60 }, { steps: 0, tokens: 0, durationMs: 60_000, costMicros: 0 }, 0],
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

  it('tells a model that goes in circles so in the result, carries its calls out, and ends the turn when it goes on', async () => {
    await start(() => ({ calls: [bash('echo same')] }));
    const { outcome, events } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'no_progress', retryable: true });
    expect(outcome).toMatchObject({ message: 'The same call came 8 times in a row, with the same result.' });
    expect(bench.sandbox.commands.length).toBe(8);
    expect(results(events).map((result) => result.status !== 'denied' && result.forModel?.hint !== undefined)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((times) => times >= 4),
    );
    const read = bench.server?.requests.map(({ body }) => String(body.messages.at(-1)?.content));
    expect(read?.[3]).toMatch(/^exit 0, \d+\.\d s\nsame$/);
    expect(read?.[4]).toMatch(/\nsame\n\n\[The same call came 4 times in a row, with the same result\. /);
  });

  it('ends a turn whose calls only count within 40 steps', async () => {
    await start((request) => ({ calls: [bash(`echo ${request.messages.length}`)] }));
    const { outcome } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'no_progress' });
    expect(bench.server?.requests.length).toBe(32);
  });

  it('lets calls go on that only count while each changes a file, also behind another worker', async () => {
    await start((request) => ({ calls: [bash(`echo batch ${request.messages.length} | tee -a ledger.txt`)] }));
    const input = bench.input('Go', { budget: { maxSteps: 20 } });
    expect((await bench.run(input)).outcome).toMatchObject({ code: 'budget_exceeded' });
    const { outcome, events } = await bench.run({ ...input, budget: { maxSteps: 20 } });
    expect(outcome).toMatchObject({ code: 'budget_exceeded' });
    expect(results(events).map((result) => result.status !== 'denied' && result.forModel?.hint)).toEqual(
      Array.from({ length: 20 }, () => undefined),
    );
    // Steps that may be no circle are not looked at.
    expect(bench.sandbox.commands.filter((command) => command.startsWith('find ')).length).toBe(40 - 11);
  });

  it('counts in what is on record: a worker that takes over ends the turn at the same step', async () => {
    await start(() => ({ calls: [bash('echo same')] }));
    const input = bench.input('Go', { budget: { maxSteps: 5 } });
    expect((await bench.run(input)).outcome).toMatchObject({ code: 'budget_exceeded' });
    expect((await bench.run({ ...input, budget: {} })).outcome).toMatchObject({ code: 'no_progress' });
    expect(bench.server?.requests.length).toBe(8);
    // Also one that finds everything done but the end.
    expect((await bench.run({ ...input, budget: {} })).outcome).toMatchObject({ code: 'no_progress' });
    expect(bench.server?.requests.length).toBe(8);
  });

  it('shows a model with a small window less of each result, and says so on record', async () => {
    await start(steps({ calls: [bash('seq 100000')] }, { text: 'Done.' }));
    Object.assign(bench.models.default(), { contextWindow: 16_000 });
    const { events } = await bench.run(bench.input('Go'));
    const content = String(bench.server?.requests[1]?.body.messages.at(-1)?.content);
    expect(content.length).toBeGreaterThan(7_900);
    expect(content.length).toBeLessThan(8_100);
    expect(content).toMatch(/^exit 0, \d+\.\d s\n1\n2\n[\s\S]+\n\[… [\d,]+ bytes left out; [\s\S]+\n100000$/);
    expect(results(events)).toMatchObject([{ forModel: { characters: 8_000 } }]);
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

it('reads what is on record when that is not what the tool gave', async () => {
  await start(steps({ calls: [bash('echo made')] }, { text: 'Done.' }));
  const running = bench.engine.run(bench.input('Go'));
  const nothing = { steer: [], files: [] };
  await running.next(nothing);
  await running.next(nothing);
  await running.next({ ...nothing, result: { status: 'error', error: 'It could not be stored.' } });
  await running.return({ type: 'completed', text: '' });
  const said = JSON.stringify(bench.server?.requests.at(-1)?.body.messages.at(-1));
  expect(said).toContain('It could not be stored.');
  expect(said).not.toContain('made');
});
