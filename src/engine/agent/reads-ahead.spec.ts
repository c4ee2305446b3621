import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import { type Answer, type Script, steps } from '../../../test/harness/model-server.js';
import { until } from '../../../test/harness/until.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { SandboxError } from '../sandbox/sandbox.js';
import type { AgentEvent } from './agent-engine.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from './agent-tool.js';

const parameters = z.strictObject({ n: z.number() });

/** Calls of it end when a test says so. */
class GateTool extends AgentTool<typeof parameters> {
  readonly name: string = 'look';
  readonly description = 'Looks, and waits.';
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes: boolean = false;
  override readonly changesNothing: boolean = true;
  /** Those that have begun and not ended. */
  readonly waiting = new Map<number, (outcome: ToolOutcome) => void>();
  readonly begun: number[] = [];

  execute({ n }: z.output<typeof parameters>, { signal }: ToolContext): Promise<ToolOutcome> {
    this.begun.push(n);
    return new Promise((answer, reject) => {
      this.waiting.set(n, answer);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  end(...numbers: number[]): void {
    for (const n of numbers) {
      this.waiting.get(n)?.(success(`seen ${n}`));
      this.waiting.delete(n);
    }
  }
}

@Plugin(AgentTool, 'look')
class LookTool extends GateTool {}

/** As the other one, and it changes something. */
@Plugin(AgentTool, 'poke')
class PokeTool extends GateTool {
  override readonly name = 'poke';
  override readonly changes = true;
  override readonly changesNothing = false;
}

let bench: AgentBench;
let look: LookTool;
let poke: PokeTool;
async function start(script: Script): Promise<void> {
  [look, poke] = [new LookTool(), new PokeTool()];
  bench = await AgentBench.start(script, [look, poke]);
}
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

const calls = (...names: string[]): Answer => ({
  calls: names.map((name, n) => ({ name, arguments: { n }, id: `call-${n}` })),
});
const looks = (count: number) => calls(...Array.from({ length: count }, () => 'look'));
const told = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.toolCallId] : []));
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('Calls that change nothing run side by side (reference §15)', () => {
  it('eight at once, and their results are recorded in the order of the calls', async () => {
    await start(steps(looks(10), { text: 'Done.' }));
    const events: AgentEvent[] = [];
    const running = bench.run(bench.input('Go'), (event) => (events.push(event), []));
    await until('eight to wait', () => look.waiting.size === 8);
    expect(look.begun).toEqual(numbers(8));
    // The last ones end first, and wait for those before them.
    look.end(7, 6, 5, 4, 3, 2, 1);
    expect(told(events)).toEqual([]);
    look.end(0);
    await until('the rest to wait', () => look.waiting.size === 2);
    look.end(9, 8);
    const { outcome } = await running;
    expect(outcome).toEqual({ type: 'completed', text: 'Done.' });
    expect(told(events)).toEqual(numbers(10).map((n) => `call-${n}`));
    const tools = events.filter((event) => event.type === 'tool');
    expect(tools.map(({ result, last }) => [result, last])).toEqual(
      numbers(10).map((n) => [{ status: 'success', output: `seen ${n}` }, n === 9]),
    );
  });

  it('and one that changes something begins when those before it are on record, and those behind it after that', async () => {
    await start(steps(calls('look', 'look', 'poke', 'look', 'poke'), { text: 'Done.' }));
    const events: AgentEvent[] = [];
    const running = bench.run(bench.input('Go'), (event) => (events.push(event), []));
    await until('two to wait', () => look.waiting.size === 2);
    look.end(1);
    expect([look.begun, poke.begun]).toEqual([[0, 1], []]);
    look.end(0);
    await until('the change to begin', () => poke.waiting.size === 1);
    expect([look.begun, poke.begun, told(events)]).toEqual([[0, 1], [2], ['call-0', 'call-1']]);
    poke.end(2);
    await until('the next one to begin', () => look.waiting.size === 1);
    expect([poke.begun, told(events)]).toEqual([[2], ['call-0', 'call-1', 'call-2']]);
    look.end(3);
    await until('the last one to begin', () => poke.waiting.size === 1);
    poke.end(4);
    expect((await running).outcome.type).toBe('completed');
  });

  it('also those of the real tools, and one that cannot be carried out is told so in its place', async () => {
    const ignored = (n: number) => join(bench.sandbox.folder, `held-${n}`, '.ignore');
    const grep = (n: number) => ({ name: 'grep', arguments: { pattern: 'a', path: `held-${n}` } });
    await start(steps({ calls: [grep(0), grep(1), { name: 'grep', arguments: {} }] }, { text: 'Done.' }));
    for (const n of [0, 1]) {
      mkdirSync(dirname(ignored(n)));
      execFileSync('mkfifo', [ignored(n)]);
      await writeFile(join(dirname(ignored(n)), 'note'), `a ${n}\n`);
    }
    const running = bench.run(bench.input('Go'));
    await until('both to run', () => bench.sandbox.commands.length === 2);
    // rg reads what a folder ignores first: each search waits at that pipe until somebody writes.
    for (const n of [1, 0]) await writeFile(ignored(n), 'none\n');
    const results = (await running).events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));
    expect(results).toMatchObject([
      { output: 'held-0/note:1:a 0' },
      { output: 'held-1/note:1:a 1' },
      { status: 'error', error: expect.stringContaining('pattern') as unknown },
    ]);
  });

  it('all end at once when the run is cancelled', async () => {
    await start(steps(looks(3)));
    const controller = new AbortController();
    const running = bench.run(bench.input('Go', { signal: controller.signal }));
    await until('all to wait', () => look.waiting.size === 3);
    const reason = new Error('cancelled');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(bench.sandbox.closed).toBe(bench.sandbox.opened);
  });

  it('those without result run again after a crash, and the change behind them has not begun', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const done = call('call-0', 'look', { n: 0 }, { status: 'success', output: 'seen 0' });
    const left = [1, 2].map((n) => call(`call-${n}`, 'look', { n }));
    const open = assistant('', done, ...left, call('call-3', 'bash', { command: 'echo once' }));
    const running = bench.run(bench.input([user('Go'), open]));
    await until('two to wait', () => look.waiting.size === 2);
    expect(look.begun).toEqual([1, 2]);
    look.end(2, 1);
    const { events } = await running;
    expect(told(events)).toEqual(['call-1', 'call-2', 'call-3']);
    expect(bench.sandbox.commands).toEqual(['echo once']);
  });

  it('when the sandbox cannot be had, the turn ends and no call stays open', async () => {
    const read = { name: 'read', arguments: { path: 'a.txt' } };
    await start(steps({ calls: Array.from({ length: 10 }, () => read) }));
    bench.sandbox.broken = new SandboxError('bwrap: /secret/path');
    const { outcome, events } = await bench.run(bench.input('Go'));
    expect(outcome).toMatchObject({ code: 'sandbox_unavailable' });
    expect(told(events)).toHaveLength(10);
  });
});
