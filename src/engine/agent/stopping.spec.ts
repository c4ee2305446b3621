import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import { type Script, steps } from '../../../test/harness/model-server.js';
import { until } from '../../../test/harness/until.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { untilAborted } from './abort.js';
import type { AgentEvent } from './agent-engine.js';
import type { InputChecks } from './input-checks.js';
import { AgentTool, type ToolOutcome } from './agent-tool.js';

let bench: AgentBench;
async function start(script?: Script): Promise<AgentBench> {
  bench = await AgentBench.start(script);
  return bench;
}
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

const bash = (command: string, id?: string) => ({
  name: 'bash',
  arguments: { command },
  ...(id === undefined ? {} : { id }),
});
const results = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));

@Plugin(AgentTool, 'deaf')
class DeafTool extends AgentTool {
  readonly name = 'deaf';
  readonly description = 'Answers when it is told to.';
  readonly parameters = z.strictObject({});
  readonly repeatable = true;
  called = false;
  answer: (outcome: ToolOutcome) => void;
  execute(): Promise<ToolOutcome> {
    this.called = true;
    return new Promise((answer) => (this.answer = answer));
  }
}

describe('The loop stops', () => {
  it('stops at once while the model is silent', async () => {
    await start(() => ({ hang: true }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until('a request', () => bench.server?.requests.length === 1);
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('told that the worker stops, it carries out the step that it has begun, and begins no other', async () => {
    await start(steps({ calls: [bash('echo 1; until [ -e go ]; do sleep 0.01; done'), bash('echo 2')] }, { text: '' }));
    const controller = new AbortController();
    const input = bench.input('Go', { stopping: controller.signal });
    const events: AgentEvent[] = [];
    const running = bench.run(input, (event) => (events.push(event), []));
    await until('a command', () => bench.sandbox.commands.length === 1);
    const reason = new Error('stopping');
    controller.abort(reason);
    writeFileSync(join(bench.sandbox.folder, 'go'), '');
    await expect(running).rejects.toBe(reason);
    expect(results(events)).toMatchObject([{ output: { stdout: '1\n' } }, { output: { stdout: '2\n' } }]);
    expect(bench.server?.requests).toHaveLength(1);
    expect(bench.sandbox).toMatchObject({ opened: 1, closed: 1 });
  });

  it('told that the worker stops while checks run beside it, it carries out the step that it has begun', async () => {
    await start(steps({ calls: [bash('until [ -e go ]; do sleep 0.01; done; echo 1')] }, { text: '' }));
    const controller = new AbortController();
    const check = {
      name: 'slow',
      command: 'sleep 600',
      timeoutSeconds: 600,
      required: true,
      protect: [],
      network: false,
    };
    let givenUp = false;
    const run: InputChecks['run'] = (_, { signal }) =>
      untilAborted(new Promise<never>(() => undefined), signal).finally(() => (givenUp = true));
    const known = () => Promise.resolve(null);
    const checks: InputChecks = { checks: [check], maxRepairs: 0, repairs: 0, before: [], unknown: [check], again: false, known, run }; // prettier-ignore
    const events: AgentEvent[] = [];
    const running = bench.run(bench.input('Go', { stopping: controller.signal, checks }), (event) => (events.push(event), [])); // prettier-ignore
    await until('a command', () => bench.sandbox.commands.length === 1);
    const reason = new Error('stopping');
    controller.abort(reason);
    await until('the end of the check', () => givenUp);
    writeFileSync(join(bench.sandbox.folder, 'go'), '');
    await expect(running).rejects.toBe(reason);
    expect(results(events)).toMatchObject([{ output: { stdout: '1\n' } }]);
  });

  it('told that the worker stops before it begins, it does not go on with the step of an earlier run', async () => {
    await start(steps({ text: 'never' }));
    const reason = new Error('stopping');
    const left = [
      user('Go'),
      assistant('', call('a', 'read', { path: 'a.txt' }), call('b', 'bash', { command: 'ls' })),
    ];
    const running = bench.run(bench.input(left, { stopping: AbortSignal.abort(reason) }));
    await expect(running).rejects.toBe(reason);
    expect(bench.sandbox).toMatchObject({ opened: 0, commands: [] });
  });

  it('told that the worker stops, it gives up a model call at once', async () => {
    await start(() => ({ hang: true }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { stopping: controller.signal }));
    await until('a request', () => bench.server?.requests.length === 1);
    const reason = new Error('stopping');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('stops at once while a command hangs, and closes the sandbox', async () => {
    await start(steps({ calls: [bash('sleep 1000')] }));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until('a command', () => bench.sandbox.commands.length === 1);
    const reason = new Error('fenced off');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(bench.sandbox).toMatchObject({ opened: 1, closed: 1 });
  });

  it('stops at once while a tool hangs that does not listen', async () => {
    const tool = new DeafTool();
    bench = await AgentBench.start(steps({ calls: [{ name: 'deaf', arguments: {} }] }), [tool]);
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until('the tool', () => tool.called);
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('closes the file that a tool hands over after the stop', async () => {
    const tool = new DeafTool();
    bench = await AgentBench.start(steps({ calls: [{ name: 'deaf', arguments: {} }] }), [tool]);
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until('the tool', () => tool.called);
    controller.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    const content = Readable.from(['bytes']);
    tool.answer({ status: 'success', output: null, files: [{ id: 'f', name: 'a.txt', content }] });
    await until('the file to be closed', () => content.destroyed);
  });

  it('does not begin when it is stopped already', async () => {
    await start(steps({ text: 'never' }));
    const reason = new Error('cancelled');
    await expect(bench.run(bench.input('Go', { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(bench.server?.requests).toEqual([]);
  });
});
