import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentBench } from '../../../../test/harness/agent.js';
import type { JsonValue } from '../../models/conversation.js';
import type { ToolOutcome } from '../agent-tool.js';

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.start();
});
afterEach(() => bench.close());

const file = () => join(bench.sandbox.folder, 'a');
const put = (content: string) => writeFileSync(file(), content);
const got = () => readFileSync(file(), 'utf8');
async function edit(input: { [key: string]: JsonValue }): Promise<ToolOutcome> {
  const checked = bench.registry.check({ name: 'edit', input: { path: 'a', ...input } });
  if ('error' in checked) throw new Error(checked.error);
  const { signal } = new AbortController();
  const session = await bench.sandbox.open({ taskId: '', signal });
  try {
    const ids = { taskId: '', workspaceId: '', userId: '', toolCallId: 'call' };
    const context = { ...ids, signal, sandbox: () => Promise.resolve(session) };
    return await bench.registry.execute(checked, context);
  } finally {
    await session.close();
  }
}

// A search that multiplies the lengths takes more than a minute for each.
it.each([
  ['lines', '0,0,0\n'.repeat(150_000), `${'0,0,0\n'.repeat(40_000)}0,0,1`, /what follows differs/],
  ['characters', 'a'.repeat(1_000_000), `${'a'.repeat(199_999)}b`, /Read the file again/],
])('answers at once when equal %s nearly match', async (_, text, oldText, message) => {
  put(text);
  const outcome = await edit({ oldText, newText: 'x' });
  expect(outcome).toEqual({ status: 'error', error: expect.stringMatching(message) as unknown });
  // Jest's limit is a timer: nothing that computes lets it come.
  await new Promise((resolve) => setTimeout(resolve));
});

it.each([
  ['aaaaa', 'aa', 'b', 'bba'],
  ['abababc ababc', 'ababc', '', 'ab '],
  ['aabaaabaaa', 'aabaaa', 'x', 'xbaaa'],
  ['a\n', '\n', 'bé', 'abé'],
])('replaces in %j every %j from the left, without overlaps', async (text, oldText, newText, after) => {
  put(text);
  await edit({ oldText, newText, replaceAll: true });
  expect(got()).toBe(after);
});

it('makes no file that it could not edit again', async () => {
  put('a\n'.repeat(2_000));
  const outcome = await edit({ oldText: '\n', newText: 'y'.repeat(1_000_000), replaceAll: true });
  expect(outcome).toEqual({
    status: 'error',
    error: expect.stringMatching(/would have 2000002000 bytes, more than 1048576/) as unknown,
  });
  expect(got()).toBe('a\n'.repeat(2_000));
  put('a'.repeat(1024 * 1024));
  expect(await edit({ oldText: 'a'.repeat(1024), newText: 'b'.repeat(1024), replaceAll: true })).toMatchObject({
    output: { line: 1 },
  });
});

it('lets the event loop turn while it searches', async () => {
  put('a'.repeat(1_000_000));
  let turns = 0;
  const beat = () => void (turns++, (timer = setImmediate(beat)));
  let timer = setImmediate(beat);
  await edit({ oldText: `${'a'.repeat(900_000)}b`, newText: 'x' });
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(18);
});
