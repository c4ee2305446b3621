import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AgentBench, user } from '../../../test/harness/agent.js';
import { type Script, steps } from '../../../test/harness/model-server.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import type { AgentEvent } from './agent-engine.js';
import { AgentTool, success, type ToolOutcome } from './agent-tool.js';

const LINES = 9_000;
const output = (n: number) => Array.from({ length: LINES }, (_, line) => `${n} ${line}`).join('\n');
const parameters = z.strictObject({ n: z.number() });

@Plugin(AgentTool, 'long')
class LongTool extends AgentTool<typeof parameters> {
  readonly name = 'long';
  readonly description = 'Says much.';
  readonly parameters = parameters;
  readonly repeatable = true;
  execute({ n }: z.output<typeof parameters>): Promise<ToolOutcome> {
    return Promise.resolve(n > 0 ? success(output(n)) : { status: 'error', error: output(n) });
  }
}

const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const long = (from: number, length: number) =>
  Array.from({ length }, (_, n) => ({ name: 'long', arguments: { n: from + n } }));
const files = (events: AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool' && event.result.status !== 'denied' ? [event.result.forModel?.whole] : [],
  );

// Reference §15.
describe('Of a result of which a model is shown a part', () => {
  let bench: AgentBench;
  const start = async (script: Script) => (bench = await AgentBench.start(script, [new LongTool()]));
  afterEach(() => bench.close());
  const kept = (n: number) => readFileSync(join(bench.sandbox.tmp, `output/${n}.txt`), 'utf8');
  const read = () => String(bench.server?.requests.at(-1)?.body.messages.at(-1)?.content);

  it('the whole lies in a file that the text names, and that can be read', async () => {
    const path = '/tmp/output/1.txt';
    await start(
      steps(
        { calls: [bash('seq 100000; echo last >&2')] },
        { calls: [{ name: 'read', arguments: { path, offset: 50_000, limit: 1 } }] },
      ),
    );
    const { events } = await bench.run(bench.input('Go'));
    expect(bench.server?.requests[1]?.sent).toContain(`bytes left out; the whole is in ${path}]`);
    expect(files(events)).toEqual([1, undefined]);
    expect(read()).toBe(' 50000\t50000\n[There is more: use offset=50001 to continue.]');
    expect(kept(1)).toHaveLength(588_895 + 'last\n'.length);
  });

  it('the whole lies in a file also when another tool gave it, or it is an error', async () => {
    await start(steps({ calls: [...long(0, 2), bash('echo short')] }));
    expect(files((await bench.run(bench.input('Go'))).events)).toEqual([1, 2, undefined]);
    expect([kept(1), kept(2)]).toEqual([output(0), output(1)]);
    expect(read()).toMatch(/^exit 0/);
  });

  it('the last twenty of a task are kept, and no number comes again', async () => {
    await start(steps({ calls: long(1, 12) }, { calls: long(13, 10) }));
    const input = bench.input('Go');
    expect(files((await bench.run(input)).events)).toEqual(Array.from({ length: 22 }, (_, n) => n + 1));
    expect(bench.sandbox.commands).toEqual([1, 2].map((n) => `[ -h /tmp/output ] || rm -f /tmp/output/${n}.txt`));
    expect(readdirSync(join(bench.sandbox.tmp, 'output'))).toHaveLength(20);
    expect([kept(3), kept(22)]).toEqual([output(3), output(22)]);
    input.messages.push(user('Again.'));
    Object.assign(bench.server ?? {}, { script: steps({ calls: long(1, 1) }) });
    expect(files((await bench.run(input)).events)).toEqual([23]);
  });

  it('a part is shown alone where the whole cannot be written', async () => {
    await start(steps({ calls: [bash('seq 100000')] }));
    writeFileSync(join(bench.sandbox.tmp, 'output'), 'a file');
    const { events } = await bench.run(bench.input('Go'));
    expect(read()).toMatch(/\n\[… \d+ bytes left out …\]\n/);
    expect(files(events)).toEqual([undefined]);
  });
});
