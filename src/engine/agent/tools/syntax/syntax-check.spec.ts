import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as nodeModule from 'node:module';
import { AgentBench, user } from '../../../../../test/harness/agent.js';
import { FolderSandbox } from '../../../../../test/harness/folder-sandbox.js';
import { steps } from '../../../../../test/harness/model-server.js';
import { resultText } from '../../../models/result-text.js';
import type { ToolResult } from '../../../models/conversation.js';
import type { AgentTool, ToolContext } from '../../agent-tool.js';
import { ApplyPatchTool } from '../apply-patch.js';
import { EditTool } from '../edit.js';
import { WriteTool } from '../write.js';
import { jsonFault } from './json-fault.js';

let sandbox: FolderSandbox;
beforeEach(() => (sandbox = new FolderSandbox()));
afterEach(() => sandbox.remove());

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(sandbox.folder, path)), { recursive: true });
  writeFileSync(join(sandbox.folder, path), text);
};

/** What the model reads behind the result of a change; null: nothing. */
async function told(tool: AgentTool, input: unknown): Promise<string | null> {
  const { signal } = new AbortController();
  const context: ToolContext = {
    taskId: '',
    workspaceId: '',
    userId: '',
    toolCallId: '',
    signal,
    sandbox: () => sandbox.open({ taskId: '', signal }),
  };
  const outcome = await tool.execute(tool.parameters.parse(input), context);
  if (outcome.status !== 'success') throw new Error(outcome.status);
  const { forModel } = outcome;
  if (forModel?.syntax === undefined) return null;
  expect(resultText(outcome as ToolResult).endsWith(`\n\n${forModel.syntax}`)).toBe(true);
  return forModel.syntax;
}
const write = (path: string, content: string) => told(new WriteTool(), { path, content });
const edit = (path: string, oldText: string, newText: string) => told(new EditTool(), { path, oldText, newText });

describe('After a change the model is told of errors of syntax', () => {
  it.each<[string, string, RegExp]>([
    ['a.py', 'def f(:\n    pass\n', /^a\.py, line 1: SyntaxError: [^\n]+\n {4}def f\(:$/],
    ['a.py', 'def f():\n\tif 1:\n        return 2\n', /^a\.py, line 3: TabError: /],
    ['a.py', `x = ${'('.repeat(300)}\n`, /^a\.py, line 1: SyntaxError: /],
    ['src/a.js', 'const a = 1;\nfunction f( {\n', /^src\/a\.js, line 3: SyntaxError: Unexpected end of input$/],
    ['a.js', "import x from 'y';\n\nconst = 3;\n", /line 3: SyntaxError: Unexpected token '='\n {4}const = 3;$/],
    ['a.mjs', 'a b', /line 1: SyntaxError: Unexpected identifier/],
    ['a.cjs', "import x from 'y';", /line 1: SyntaxError: Cannot use import statement/],
    ['a.js', '<<<<<<< HEAD\nlet a;\n', /line 1: SyntaxError/],
    ['a.sh', '#!/bin/sh\nif true; then\n  echo\n', /^a\.sh, line \d: syntax error: unexpected end of file/],
    ['a.json', '{\n  "a": 1\n  "b": 2\n}\n', /^a\.json, line 3: Expected ',' or '}' after property value$/m],
    ['a.json', '{"a": 1,}', /^a\.json, line 1: Expected double-quoted property name\n/],
    ['a.json', '{"a": [1', /^a\.json, line 1: /],
    ['package.json', '{\n  // what it is\n  "name": "a"\n}', /^package\.json, line 2: /],
  ])('in %s', async (path, text, expected) => {
    const [, body = ''] = /^\[Syntax errors after this change:\n([^]*)\]$/.exec((await write(path, text)) ?? '') ?? [];
    expect(body).toMatch(expected);
  });

  it('of a patch in all its files, by one command for each language', async () => {
    put('b.py', 'a = 1\n');
    put('c.py', 'c = 1\n');
    const patch = [
      '*** Begin Patch',
      ...['*** Add File: a.js', '+let a = ;'],
      ...['*** Add File: d.js', '+let a = 1;'],
      ...['*** Update File: b.py', '*** Move to: e.py', '@@', '-a = 1', '+a = (1'],
      ...['*** Update File: c.py', '@@', '-c = 1', '+c = ]'],
      '*** End Patch',
    ];
    const syntax = await told(new ApplyPatchTool(), { patch: patch.join('\n') });
    expect(syntax?.match(/^\S+, line/gm)).toEqual(['a.js, line', 'e.py, line', 'c.py, line']);
    // One of them asks for what was there before.
    expect(sandbox.commands.map((command) => /^\w+/.exec(command)?.[0])).toEqual(['rm', 'python3', 'node', 'python3']);
  });

  it('that are not of the change, as such and in short', async () => {
    put('a.py', 'def f(:\n    pass\nx = 1\n');
    expect(await edit('a.py', 'x = 1', 'y = 1')).toMatch(
      /^\[Not of this change: a\.py, line 1: SyntaxError: [^\n]+\]$/,
    );
    expect(await edit('a.py', 'def f(:', 'def f()')).toMatch(/^\[Syntax errors after this change:\na\.py, line 1/);
    expect(await edit('a.py', 'def f()', 'def f():')).toBeNull();
  });

  it('in ten lines at most, whatever is in them', async () => {
    const files = Array.from({ length: 12 }, (_, n) => [`*** Add File: ${n}.py`, `+${'x'.repeat(5_000)} = ]`]);
    const patch = ['*** Begin Patch', ...files.flat(), '*** End Patch'].join('\n');
    const syntax = await told(new ApplyPatchTool(), { patch });
    expect(syntax?.split('\n')).toHaveLength(11);
    expect(syntax?.length).toBeLessThan(2_500);
  });
});

describe('After a change nothing is said', () => {
  it.each<[string, string]>([
    ['a.py', '#!/usr/bin/env python3\nimport re\nx = "\\d"\nassert (1, 2)\n'],
    ['a.js', '#!/usr/bin/env node\nreturn 1;\n'],
    ['a.js', "import x from 'y';\nexport const z = await x();\n"],
    ['a.js', 'export const App = () => <div>hi</div>;\n'],
    ['a.js', '// @flow\nconst a = (b: number) => b;\n'],
    ['a.cjs', '\ufeffconst a = require("b");\n'],
    ['a.sh', 'shopt -s extglob\nrm -f !(keep)\ncat <<X\nX\n'],
    ['a.sh', '#!/usr/bin/env zsh\nfor f (*.txt) { echo $f }\n'],
    ['a.json', '\ufeff{"a": [1, 2]}\n'],
    ['tsconfig.json', '{\n  // strict\n  "a": "//", /* b */ "c": [1,],\n}\n'],
    ['tsconfig.base.json', '{"a": 1,}'],
    ['.vscode/settings.json', '{"a": 1,}'],
    ['a.json', '{\n  // why\n  "a": 1,\n}\n'],
    ['node_modules/x/index.js', 'let a = ;'],
    ['src/vendor/a.py', 'def f(:'],
    ['a.min.js', 'let a = ;'],
    ['{{ name }}/a.py', 'def f(:'],
    ['a.rb', 'def f('],
    ['a.tsx', 'const a = ;'],
    ['big.json', `{${' '.repeat(200_000)}`],
  ])('of %s', async (path, text) => {
    expect(await write(path, text)).toBeNull();
  });

  it('where there is no such program, or it takes too long, and the change stands', async () => {
    put('a.py', 'x = 1\n');
    const other = sandbox;
    sandbox = new FolderSandbox();
    for (const outcome of [
      { exitCode: 127, stdout: '', stderr: 'sh: 1: python3: not found', truncated: false, killed: null },
      { exitCode: 124, stdout: '1\tso far\n', stderr: '', truncated: false, killed: 'timeout' as const },
      new Error('The command was cut off from outside.'),
    ]) {
      sandbox.open = async (options) => {
        const session = await other.open(options);
        const run = (): Promise<never> => Promise.reject(new Error('not run'));
        return Object.assign(session, {
          run: outcome instanceof Error ? run : () => Promise.resolve(outcome),
        });
      };
      expect(await write('a.py', 'def f(:')).toBeNull();
      expect(readFileSync(join(other.folder, 'a.py'), 'utf8')).toBe('def f(:');
    }
    await other.remove();
  });
});

// From node 22.13 on.
const withTypes = 'stripTypeScriptTypes' in nodeModule ? it : it.skip;
withTypes('TypeScript is looked at where node can', async () => {
  expect(await write('a.ts', 'const a = {\n  b: 1\n  c: 2\n}')).toMatch(/\na\.ts, line 3: Expected ','/);
  const known =
    'enum A { B }\nnamespace X { export const a = 1 }\nclass C { constructor(private a: string) {} @dec() m() {} }';
  expect(await write('a.ts', known)).toBeNull();
});

it('JSON is looked at in time that grows with its length alone', () => {
  const long = (piece: string) => piece.repeat(131_072 / piece.length);
  for (const text of ['[', '[]', '{},', '/*a', '"', '\\"', ', ', ',\n', '//', '"\n', '/* */'].map(long)) {
    for (const whole of [text, `"${text}`, `// \n${text}`]) expect(jsonFault('tsconfig.json', whole)).not.toBeNull();
  }
});

it('What is said of a change is on record, and read again in the next turn', async () => {
  const bench = await AgentBench.start(
    steps({ calls: [{ name: 'write', arguments: { path: 'a.py', content: 'def f(:' } }] }),
  );
  try {
    const input = bench.input('Go');
    const { events } = await bench.run(input);
    const read = () => bench.server?.requests.at(-1)?.body.messages.find(({ role }) => role === 'tool')?.content;
    const first = read();
    expect(first).toMatch(/^bytes: 7\npath: a\.py\n\n\[Syntax errors after this change:\na\.py, line 1/);
    expect(events.find((event) => event.type === 'tool')).toMatchObject({
      result: { output: { path: 'a.py', bytes: 7 }, forModel: { syntax: expect.any(String) as string } },
    });
    input.messages.push(user('And?'));
    await bench.run(input);
    expect(read()).toBe(first);
  } finally {
    await bench.close();
  }
});
