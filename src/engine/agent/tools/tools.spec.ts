import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentBench } from '../../../../test/harness/agent.js';
import type { JsonValue } from '../../models/conversation.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import type { ToolOutcome } from '../agent-tool.js';
import { parseArguments } from '../tool-registry.js';
import { GOING_ON } from './bash-output.js';
import { globToRegex } from './glob.js';
import { slowIt } from '../../../../test/harness/slow.js';

let bench: AgentBench;
let session: SandboxSession;
const signal = new AbortController().signal;
beforeEach(async () => {
  bench = await AgentBench.start();
  session = await bench.sandbox.open({ taskId: '', signal });
});
afterEach(async () => {
  await session.close();
  await bench.close();
});

const use = (name: string, input: JsonValue): Promise<ToolOutcome> => bench.use(session, name, input);
async function output(name: string, input: JsonValue): Promise<JsonValue> {
  const outcome = await use(name, input);
  if (outcome.status !== 'success') throw new Error(JSON.stringify(outcome));
  return outcome.output;
}
async function error(name: string, input: JsonValue): Promise<string> {
  const outcome = await use(name, input);
  if (outcome.status !== 'error') throw new Error(JSON.stringify(outcome));
  return outcome.error;
}
function put(path: string, content: string | Buffer): void {
  const target = join(bench.sandbox.folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
}
const got = (path: string) => readFileSync(join(bench.sandbox.folder, path), 'utf8');

describe('bash', () => {
  it('answers with exit code and both streams, whatever the exit code', async () => {
    const result = await output('bash', { command: 'echo $A; echo err >&2; exit 7', env: { A: 'x' } });
    expect(result).toEqual({ exitCode: 7, stdout: 'x\n', stderr: 'err\n', truncated: false });
  });

  it('runs where it is told', async () => {
    put('sub/a.txt', '');
    expect(await output('bash', { command: 'ls', cwd: 'sub' })).toMatchObject({ stdout: 'a.txt\n' });
  });

  slowIt('says why a command was killed', async () => {
    const result = await output('bash', { command: 'printf x >&2; exec sleep 60', timeoutSeconds: 3 });
    const more = 'Give it more by timeoutSeconds, at most 600, or run a part of it.';
    const stderr = `x\n[The command was killed: its time limit of 3 s was reached. ${more}]`;
    expect(result).toMatchObject({ exitCode: 124, stderr });
  });

  it('keeps its shape and the limit, however long and odd the output', async () => {
    const result = await output('bash', { command: 'head -c 200000 /dev/zero | tr "\\0" "\\001"; seq 100000 >&2' });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(JSON.stringify(result).length).toBeLessThan(256 * 1024);
    expect((result as { stderr: string }).stderr).toMatch(/^1\n2\n[\s\S]*left out[\s\S]*\n100000\n$/);
  });

  it('keeps its shape when every character takes six bytes', async () => {
    const result = await output('bash', { command: 'f() { head -c 60000 /dev/zero | tr "\\0" "\\001"; }; f; f >&2' });
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    expect(JSON.stringify(result).length).toBeLessThan(256 * 1024);
  });

  it('gives nothing on that a database refuses', async () => {
    const result = await output('bash', { command: 'printf "a\\000b"' });
    expect(result).toMatchObject({ stdout: 'ab' });
  });

  it.each([
    [{ command: '' }],
    [{ command: 'a\0b' }],
    [{ command: 'ls', env: { 'A B': '' } }],
    [{ command: 'ls', x: 1 }],
  ])('refuses %j', async (input) => {
    expect(await error('bash', input)).toMatch(/arguments of bash are wrong/);
    expect(bench.sandbox.commands).toEqual([]);
  });

  it('says of many wrong arguments what the first ones are, and how many more', async () => {
    const env = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`A ${n} ${'B'.repeat(1_000)}`, '']));
    const told = await error('bash', { command: 'ls', env });
    expect(told).toMatch(/and 990 more/);
    expect(told.length).toBeLessThan(10_000);
  });
});

describe('read', () => {
  it('numbers lines and says how to go on', async () => {
    put('a.txt', 'one\r\ntwo\nthree\n\nfive');
    expect(await output('read', { path: 'a.txt' })).toBe(
      '     1\tone\n     2\ttwo\n     3\tthree\n     4\t\n     5\tfive',
    );
    expect(await output('read', { path: '/workdir/a.txt', offset: 2, limit: 2 })).toBe(
      '     2\ttwo\n     3\tthree\n[There is more: use offset=4 to continue.]',
    );
    expect(await output('read', { path: 'a.txt', offset: 5 })).toBe('     5\tfive');
    expect(await error('read', { path: 'a.txt', offset: 6 })).toMatch(/has 5 lines/);
  });

  it('does not promise more at the end', async () => {
    put('a.txt', 'one\ntwo\n');
    expect(await output('read', { path: 'a.txt', limit: 2 })).toBe('     1\tone\n     2\ttwo');
    put('empty', '');
    expect(await output('read', { path: 'empty' })).toBe('[empty is empty.]');
  });

  it('bounds lines and windows', async () => {
    put('long', `${'x'.repeat(1_000_000)}\n${'é\n'.repeat(50_000)}`);
    const text = (await output('read', { path: 'long' })) as string;
    expect(text.length).toBeLessThan(80_000);
    expect(text).toContain('[… 998000 characters left out]\n     2\té\n');
    expect(text).toMatch(/use offset=2001 to continue/);
    put('wide', `${'y'.repeat(1_500)}\n`.repeat(1_000));
    expect(await output('read', { path: 'wide' })).toMatch(/\[There is more: use offset=20 /);
  });

  it('refuses binary files and lists folders', async () => {
    put('bin', Buffer.from([1, 2, 0, 3]));
    expect(await error('read', { path: 'bin' })).toMatch(/binary file of 4 bytes/);
    put('dir/b', '');
    put('dir/sub/c', '');
    expect(await output('read', { path: 'dir' })).toBe('dir is a folder:\nb\nsub/');
    expect(await error('read', { path: 'none' })).toMatch(/does not exist/);
    expect(await error('read', { path: '../../etc/passwd' })).toMatch(/outside/);
  });
});

describe('write and edit', () => {
  it('write files and change them', async () => {
    expect(await output('write', { path: 'a/b.txt', content: 'héllo\n' })).toEqual({ path: 'a/b.txt', bytes: 7 });
    expect(await output('edit', { path: 'a/b.txt', oldText: 'héllo', newText: '$& $1 bye' })).toMatchObject({
      line: 1,
    });
    expect(got('a/b.txt')).toBe('$& $1 bye\n');
  });
});

describe('arguments', () => {
  it.each([
    ['Edit', { file_path: 'a.txt', old_string: 'one', new_string: '1', replace_all: 'true' }],
    ['edit', { filePath: 'a.txt', oldString: 'one', newString: '1', replaceAll: null, instruction: 'Count.' }],
    ['EDIT', { command: 'str_replace', path: 'a.txt', old_str: 'one', new_str: '1' }],
    ['Read', { file_path: 'a.txt', offset: '0', limit: '100000' }],
    ['read', { path: 'a.txt', offset: -3, limit: 0, description: 'The first line.' }],
    ['Bash', { cmd: 'cat a.txt', working_directory: '.', timeout_seconds: '20' }],
    ['grep', { query: 'o', include: '*.txt', '-i': 'True', '-C': 99 }],
    ['write', { filename: 'a.txt', contents: 'one' }],
  ])('of other names are taken: %s %j', async (name, input) => {
    put('a.txt', 'one\ntwo\n');
    expect((await use(name, input)).status).toBe('success');
  });

  it('that are encoded twice are taken, and no text in their place', () => {
    const twice = JSON.stringify(JSON.stringify({ path: 'a.txt' }));
    expect(parseArguments(twice)).toEqual({ path: 'a.txt' });
    for (const text of [JSON.stringify(twice), '"ls"', '""', '"[1]"']) expect(parseArguments(text)).toBe(text);
  });

  it('that cannot be meant are named, without the schema', async () => {
    expect(await error('read', { path: 'a', file: 'b', offset: 'ten', colour: 1 })).toBe(
      'The arguments of read are wrong, so nothing was done:\n' +
        '- offset: Invalid input: expected number, received string\n' +
        '- file: there is no such field\n- colour: there is no such field\n' +
        'The fields of read: path (required), offset, limit.',
    );
    expect(await error('edit', { path: 'a', old: 'x' })).toMatch(/wrong[^]*\n- newText: it is missing\n/);
    expect(await error('bash', 'ls')).toMatch(/not a JSON object[^]*The fields of bash: command \(required\), env,/);
    expect(await error('Rm', {})).toMatch(/There is no tool 'Rm'/);
    expect(JSON.stringify(await use('bash', JSON.parse('{"__proto__": 1}') as JsonValue))).toMatch(/no such field/);
  });
});

describe('glob and grep', () => {
  beforeEach(() => {
    put('src/a.ts', 'const a = 1;\n// it\'s "quoted" $HOME\n');
    put('src/deep/b.ts', 'const b = 2;\n');
    put('.hidden/c.ts', 'const c = 3;\n');
    put('-odd name.ts', 'const odd = 4;\n');
    put('.git/config', 'const d = 5;\n');
    put('.ignore', 'node_modules/\n');
    put('node_modules/m.ts', 'const m = 6;\n');
  });

  it('glob finds files by pattern', async () => {
    expect(await output('glob', { pattern: '**/*.ts' })).toBe('-odd name.ts\n.hidden/c.ts\nsrc/a.ts\nsrc/deep/b.ts');
    expect(await output('glob', { pattern: '*.ts', path: 'src/' })).toBe('src/a.ts\nsrc/deep/b.ts');
    expect(await output('glob', { pattern: 'src/*.ts' })).toBe('src/a.ts');
    expect(await output('glob', { pattern: '*.py' })).toMatch(/No file matches/);
    expect(await error('glob', { pattern: '*', path: 'none' })).toMatch(/search failed/);
    expect(await error('glob', { pattern: '*.{ts' })).toMatch(/not closed/);
  });

  it('grep finds lines, quotes what it is given, and says when there is nothing', async () => {
    expect(await output('grep', { pattern: 'const [ab] =' })).toBe(
      'src/a.ts:1:const a = 1;\nsrc/deep/b.ts:1:const b = 2;',
    );
    expect(await output('grep', { pattern: `it's "quoted" $HOME`, literal: true })).toBe(
      `src/a.ts:2:// it's "quoted" $HOME`,
    );
    expect(await output('grep', { pattern: 'CONST', ignoreCase: true, filesOnly: true, glob: 'src/**' })).toBe(
      'src/a.ts\nsrc/deep/b.ts',
    );
    expect(await output('grep', { pattern: 'odd', path: '-odd name.ts' })).toBe('-odd name.ts:1:const odd = 4;');
    expect(await output('grep', { pattern: 'nowhere; touch pwned' })).toMatch(/^Nothing matches/);
    expect(await error('grep', { pattern: '(' })).toMatch(/search failed[\s\S]*unclosed group/);
  });

  it('both heed .gitignore where there is no repository', async () => {
    rmSync(join(bench.sandbox.folder, '.git'), { recursive: true });
    put('.gitignore', 'src/deep/\n');
    expect(await output('glob', { pattern: 'src/**' })).toBe('src/a.ts');
    expect(await output('grep', { pattern: 'const', path: 'src', glob: '*.{ts,tsx}' })).toBe('src/a.ts:1:const a = 1;');
  });

  it.each([
    ['*.ts', ['a.ts', 'x/y/a.ts'], ['a.tsx', 'ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['a.ts', 'x/src/a.ts', 'src/a.js']],
    ['src/**', ['src/a', 'src/x/a'], ['srca', 'x/src/a']],
    ['**/test_*.py', ['test_a.py', 'x/test_b.py'], ['x/atest_b.py', 'test_a/b.py']],
    ['*.{ts,js}', ['a.ts', 'x/a.js'], ['a.css']],
    ['a?[0-9][!x].md', ['ab1y.md'], ['ab1x.md', 'a/1y.md', 'abcy.md']],
    ['./a+(b)/[id]/[...all].ts', ['a+(b)/[id]/[...all].ts', 'a+(b)/i/a.ts'], ['aab/[id]/a.ts', 'a+(b)/id/all.ts']],
  ])('glob %s matches paths as people expect', (pattern, yes, no) => {
    const regex = new RegExp(globToRegex(pattern), 'u');
    expect([...yes, ...no].filter((path) => regex.test(path))).toEqual(yes);
  });

  it('both are bounded', async () => {
    put('many', 'match\n'.repeat(1_000));
    const found = (await output('grep', { pattern: 'match' })) as string;
    expect(found.split('\n').length).toBe(301);
    expect(found).toMatch(/Only the first 300 lines are shown/);
    put('long', `${'match '.repeat(100_000)}\n`.repeat(3));
    expect(((await output('grep', { pattern: 'match', path: 'long' })) as string).length).toBeLessThan(3_000);
  });
});

describe('todo, ask and publish', () => {
  it('todo makes the plan a part of the message', async () => {
    const items = [
      { text: 'One', status: 'done' },
      { text: 'Two', status: 'pending' },
    ];
    expect(await use('todo', { items })).toEqual({
      status: 'success',
      output: { items: 2, left: 1 },
      parts: [{ type: 'data', name: 'plan', id: 'call', data: { items } }],
    });
    expect(await error('todo', { items: [{ text: 'x', status: 'later' }] })).toMatch(/items.0.status/);
  });

  it('ask refuses options that cannot be told apart', async () => {
    const options = [
      { id: 'a', label: 'A' },
      { id: 'a', label: 'B' },
    ];
    expect(await error('ask', { question: 'Q?', options })).toMatch(/an id of its own/);
    expect(await use('ask', { question: 'Q?', options: [{ id: 'a', label: 'A' }], multiple: true })).toMatchObject({
      status: 'question',
      question: { multiple: true, allowText: false },
    });
  });

  it('publish takes one file', async () => {
    put('out/r.txt', 'data');
    const outcome = await use('publish', { path: 'out/r.txt' });
    if (outcome.status !== 'success') throw new Error('A file was expected.');
    const [file] = outcome.files ?? [];
    file?.content.destroy();
    expect(outcome.output).toEqual({ id: file?.id, name: 'r.txt', size: 4 });
    expect(await error('publish', { path: 'out' })).toMatch(/pack a folder first/);
    expect(await error('publish', { path: 'out/r.txt', name: 'a/b' })).toMatch(/without slashes/);
    expect(await error('publish', { path: 'out/r.txt', name: 'r\u202etxt.exe' })).toMatch(/hidden characters/);
    put('out/r\u202etxt.exe', 'data');
    expect(await error('publish', { path: 'out/r\u202etxt.exe' })).toMatch(/hidden characters.*give it another `name`/);
    const renamed = await use('publish', { path: 'out/r\u202etxt.exe', name: 'r.exe' });
    expect(renamed).toMatchObject({ status: 'success', output: { name: 'r.exe' } });
    if (renamed.status === 'success') for (const { content } of renamed.files ?? []) content.destroy();
  });
});

it('every tool has a description and a schema that a model can read', () => {
  for (const { name, description, inputSchema } of bench.registry.definitions(false, GOING_ON)) {
    expect([name, description.length > 25]).toEqual([name, true]);
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    // Each request carries it: limits are told to those who exceed them.
    expect(JSON.stringify(inputSchema)).not.toMatch(/"(min|max)\w+":\d|"(default|pattern|propertyNames)":(?!\{"type")/);
  }
});
