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
const put = (content: string | Buffer) => writeFileSync(file(), content);
const got = () => readFileSync(file(), 'utf8');
async function edit(input: { [key: string]: JsonValue }): Promise<ToolOutcome> {
  const { signal } = new AbortController();
  const session = await bench.sandbox.open({ taskId: '', signal });
  try {
    return await bench.use(session, 'edit', { path: 'a', ...input });
  } finally {
    await session.close();
  }
}

async function output(input: { [key: string]: JsonValue }): Promise<JsonValue> {
  const outcome = await edit(input);
  if (outcome.status !== 'success') throw new Error(JSON.stringify(outcome));
  return outcome.output;
}
async function error(input: { [key: string]: JsonValue }): Promise<string> {
  const outcome = await edit(input);
  if (outcome.status !== 'error') throw new Error(JSON.stringify(outcome));
  return outcome.error;
}

// A search that multiplies the lengths takes more than a minute for each.
it.each([
  [
    'lines',
    '0,0,0\n'.repeat(150_000),
    `${'0,0,0\n'.repeat(40_000)}0,0,1`,
    /the nearest place begins at line 1, and differs further on/,
  ],
  [
    'characters',
    'a'.repeat(1_000_000),
    `${'a'.repeat(199_999)}b`,
    /the nearest place begins at line 1, and differs further on/,
  ],
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

it('moves the indentation, and shows what it did', async () => {
  put('class A {\n\tf() {\n\t\treturn 1;\n\t}\n}\n');
  const [oldText, newText] = ['f() {\n  return 1;\n}', 'f() {\n  if (x) {\n    return 2;\n  }\n}'];
  const diff =
    '@@ -1,5 +1,7 @@\n class A {\n \tf() {\n-\t\treturn 1;\n+\t\tif (x) {\n+\t\t\treturn 2;\n+\t\t}\n \t}\n }';
  expect(await output({ oldText, newText })).toEqual({
    path: 'a',
    replacements: 1,
    line: 2,
    match: 'indentation',
    diff,
  });
  expect(got()).toBe('class A {\n\tf() {\n\t\tif (x) {\n\t\t\treturn 2;\n\t\t}\n\t}\n}\n');
});

it('says what is wrong, and shows the nearest place', async () => {
  put('if (x) {\n\treturn 1;\n}\n');
  const wrong = (oldText: string, newText = 'new') => error({ oldText, newText });
  const shown = '     1\tif (x) {\n     2\t\treturn 1;';
  expect(await wrong('if (x) {\n  return 2;')).toBe(
    `oldText does not occur in a. Nothing was changed: the nearest place differs from line 2 on.\n${shown}`,
  );
  expect(await wrong('nothing like it')).toMatch(/read the file again/);
  expect(await wrong('new')).toMatch(/are the same/);
  expect(await wrong('')).toMatch(/oldText: It is empty/);
  expect(await wrong('if (x) {', '     1\tif (y) {')).toMatch(/line numbers of `read`/);
  expect(await wrong('if (x) {', 'if (y) {\n  // ... rest of the code')).toMatch(/stands for text left out/);
  expect(await wrong('return 1;', 'if (y) {\n  return 1;\n}')).toMatch(/behind its indentation/);
  expect(got()).toBe('if (x) {\n\treturn 1;\n}\n');
  put(Buffer.from([0xff, 0xfe]));
  expect(await error({ oldText: 'a', newText: 'b' })).toMatch(/not UTF-8/);
  put(Buffer.alloc(6 * 1024 * 1024, 'a'));
  expect(await error({ oldText: 'a', newText: 'b' })).toMatch(/change it with bash/);
});

it('shows at most sixty lines of what it did, and not all of a long line', async () => {
  put(Array.from({ length: 500 }, (_, at) => `line ${at} ${'x'.repeat(900)}\n`).join(''));
  const { diff } = (await output({ oldText: 'x'.repeat(900), newText: 'z', replaceAll: true })) as { diff: string }; // prettier-ignore
  expect(diff.split('\n')).toHaveLength(60);
  expect(diff).toMatch(/left out\]\n/);
  expect(diff.length).toBeLessThan(20_000);
});

it('keeps the line ends of a file', async () => {
  put('one\r\ntwo\r\nthree\r\n');
  await output({ oldText: 'one\ntwo', newText: '1\n2' });
  expect(got()).toBe('1\r\n2\r\nthree\r\n');
  put('\ufeffone\r\ntwo\nthree\r\n');
  await output({ oldText: 'one\ntwo\nthree', newText: 'one\nand\ntwo\n3' });
  expect(got()).toBe('\ufeffone\r\nand\r\ntwo\n3\r\n');
  await output({ oldText: 'one\r\nand\r\n', newText: 'one\nand\n' });
  expect(got()).toBe('\ufeffone\nand\ntwo\n3\r\n');
});

it('replaces one place, or all when told', async () => {
  put('x\ny\nx\n');
  expect(await error({ oldText: 'x', newText: 'z' })).toMatch(/occurs 2 times in a \(lines 1, 3\).*or set replaceAll/);
  expect(got()).toBe('x\ny\nx\n');
  expect(await output({ oldText: 'x', newText: 'z', replaceAll: true })).toMatchObject({ replacements: 2, line: 1 });
  expect(got()).toBe('z\ny\nz\n');
});

it.each([
  // It begins amid the indentation, which was moved.
  ['    foo();\n', '  foo();', '  foo();\n  bar();', '    foo();\n    bar();\n'],
  [
    '\ta();\n\tif (x) {\n\t\tb();\n\t}\n',
    '  if (x) {\n    b();',
    '  if (x) {\n    c();',
    '\ta();\n\tif (x) {\n\t\tc();\n\t}\n',
  ],
  // Moved by another width: had only the first line been trimmed, it would stand to the left of the margin.
  [
    'x\n    y\nx\n    y\n    foo(\n            bar,\n',
    'foo(\n    bar,',
    'foo(\n    bar,\n) + 1',
    'x\n    y\nx\n    y\n    foo(\n            bar,\n    ) + 1\n',
  ],
  [
    'x\n    y\nx\n    y\n    foo(\n            bar,\n',
    'foo(\n    bar,',
    'foo(\n    baz,',
    'x\n    y\nx\n    y\n    foo(\n            baz,\n',
  ],
  // Behind the indentation: the second line may count from there or from the margin.
  ['    foo();\n', 'foo();', 'foo();\nbar();', null],
  ['    foo();\n', 'foo();', 'foo();\n    bar();', '    foo();\n    bar();\n'],
  // The odd quotes of the model are two of the file.
  ['log("a", “b”);\n', 'log(‟a‟, ‟b‟);', 'log(‟a‟);\nlog(‟b‟);', null],
  [
    "// don’t\nrun('a');\n",
    "// don't\nrun('a');",
    "// don't\nrun('b');\nrun('c');",
    "// don’t\nrun('b');\nrun('c');\n",
  ],
])('does not guess: in %j %j by %j', async (text, oldText, newText, after) => {
  put(text);
  const outcome = await edit({ oldText, newText });
  expect([outcome.status, got()]).toEqual(after === null ? ['error', text] : ['success', after]);
});
