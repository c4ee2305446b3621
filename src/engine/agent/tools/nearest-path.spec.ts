import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentBench } from '../../../../test/harness/agent.js';
import type { JsonValue } from '../../models/conversation.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';

const SHOT = 'Shots/Screenshot 3.05\u202fPM.txt';

let bench: AgentBench;
let session: SandboxSession;
beforeAll(async () => {
  bench = await AgentBench.start();
  session = await bench.sandbox.open({ taskId: '', signal: new AbortController().signal });
  const files = [
    SHOT,
    'cafe\u0301.txt',
    'don\u2019t.txt',
    'a\u00a0b.txt',
    'app/[id]/page.tsx',
    'same.txt',
    'SAME.txt',
    'b c',
  ];
  for (const file of files) {
    mkdirSync(dirname(join(bench.sandbox.folder, file)), { recursive: true });
    writeFileSync(join(bench.sandbox.folder, file), 'text\n');
  }
});
afterAll(async () => {
  await session.close();
  await bench.close();
});

async function errorOf(name: string, input: JsonValue): Promise<string> {
  const outcome = await bench.use(session, name, input);
  return outcome.status === 'error' ? outcome.error : JSON.stringify(outcome);
}

describe('A path that does not exist', () => {
  it.each<[string, string, string]>([
    ['a plain space for U+202F, below a folder in another case', 'shots/screenshot 3.05 pm.txt', SHOT],
    ['a plain space for U+00A0', 'a b.txt', 'a\u00a0b.txt'],
    ['U+00A0 for a plain space', 'b\u00a0c', 'b c'],
    ['a composed letter for one with a mark', 'caf\u00e9.txt', 'cafe\u0301.txt'],
    ['a straight quote for a curly one', "don't.txt", 'don\u2019t.txt'],
    ['another case', 'APP/[ID]/Page.tsx', 'app/[id]/page.tsx'],
    ['the case, where two differ in that', '\uff53ame.txt', 'same.txt'],
  ])('with %s is refused with the name of the one that does', async (_, path, nearest) => {
    expect(await errorOf('read', { path })).toContain(`does not exist. Nearest is ${nearest}`);
  });

  it('is told in JSON where the difference is not to be seen', async () => {
    expect(await errorOf('read', { path: 'a b.txt' })).toMatch(/, in JSON "a\\u00a0b\.txt"$/);
    expect(await errorOf('read', { path: 'APP/[id]/page.tsx' })).toMatch(/page\.tsx$/);
  });

  it.each<[string, JsonValue]>([
    ['edit', { path: 'a b.txt', oldText: 'text', newText: 'word' }],
    ['grep', { path: 'a b.txt', pattern: 'text' }],
    ['glob', { path: 'SHOTS', pattern: '*' }],
    ['publish', { path: 'a b.txt' }],
    ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: a b.txt\n*** End Patch' }],
  ])('is named by %s too, and never taken for the one that exists', async (name, input) => {
    expect(await errorOf(name, input)).toMatch(/ Nearest is (a\u00a0b\.txt|Shots)/);
  });

  it('without one that looks like it is refused as before', async () => {
    expect(await errorOf('read', { path: 'none/at/all.txt' })).toBe('none/at/all.txt does not exist.');
    expect(await errorOf('grep', { path: 'same.txt', pattern: '(' })).not.toContain('Nearest');
  });

  it('of more than 32 folders is not looked for', async () => {
    const commands = bench.sandbox.commands.length;
    await errorOf('read', { path: 'x/'.repeat(40) });
    expect(bench.sandbox.commands.length).toBe(commands);
  });
});

it('A pattern with brackets finds the file of that very name', async () => {
  expect(await bench.use(session, 'glob', { pattern: 'app/[id]/page.tsx' })).toMatchObject({
    output: 'app/[id]/page.tsx',
  });
});
