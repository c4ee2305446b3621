import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentBench } from '../../../../test/harness/agent.js';
import { readEnv } from '../../../platform/config/env.js';
import { AiSdkProvider } from '../../models/ai-sdk/ai-sdk-provider.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import type { ToolOutcome } from '../agent-tool.js';

describe('apply_patch', () => {
  let bench: AgentBench;
  let session: SandboxSession;
  const { signal } = new AbortController();
  const at = (path: string) => join(bench.sandbox.folder, path);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const got = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null);

  beforeEach(async () => {
    bench = await AgentBench.start();
    session = await bench.sandbox.open({ taskId: '', signal });
    put('a.txt', 'one\ntwo\n');
    put('b.txt', 'b\n');
  });
  afterEach(async () => {
    await session.close();
    await bench.close();
  });

  async function apply(...lines: string[]): Promise<ToolOutcome> {
    return bench.use(session, 'Apply_Patch', {
      input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
    });
  }

  it('adds, changes, moves and deletes files, and says which', async () => {
    const outcome = await apply(
      '*** Add File: new/n.txt',
      '+new',
      '*** Update File: a.txt',
      '*** Move to: c.txt',
      ' one',
      '-two',
      '+2',
      '*** Delete File: b.txt',
    );
    expect(outcome).toMatchObject({
      status: 'success',
      output: { files: ['A new/n.txt', 'R a.txt -> c.txt', 'D b.txt'] },
    });
    expect(['new/n.txt', 'a.txt', 'b.txt', 'c.txt'].map(got)).toEqual(['new\n', null, null, 'one\n2\n']);
  });

  it('sees what the operations before have made', async () => {
    await apply(
      '*** Update File: a.txt',
      '-one',
      '+1',
      '*** Update File: ./a.txt',
      '-1',
      '+eins',
      '*** Delete File: b.txt',
    );
    expect([got('a.txt'), got('b.txt')]).toEqual(['eins\ntwo\n', null]);
  });

  it.each([
    [
      'a hunk that fits nowhere',
      ['*** Update File: a.txt', '-three', '+3'],
      /line 5 of the patch: its old text does not occur/,
    ],
    ['a file that is not there', ['*** Delete File: gone.txt'], /There is no file gone\.txt/],
    ['a move onto another file', ['*** Update File: a.txt', '*** Move to: b.txt'], /b\.txt exists already/],
    ['a folder', ['*** Delete File: .'], /./],
    ['a file outside', ['*** Update File: ../../etc/passwd', '-x', '+y'], /./],
  ])('changes nothing when one part is %s', async (_, lines, message) => {
    const outcome = await apply('*** Add File: first.txt', '+first', ...lines);
    expect(outcome).toMatchObject({ status: 'error', error: expect.stringMatching(message) });
    expect(['first.txt', 'a.txt', 'b.txt'].map(got)).toEqual([null, 'one\ntwo\n', 'b\n']);
  });

  it.each([
    ['files', Array.from({ length: 101 }, (_, n) => [`*** Add File: f${n}`, '+x']).flat(), /at most 100 files/],
    [
      'hunks',
      ['*** Update File: a.txt', ...Array.from({ length: 201 }, () => ['@@', '+x']).flat()],
      /at most 200 hunks, this one 201/,
    ],
    [
      'bytes',
      Array.from({ length: 9 }, (_, n) => [`*** Update File: big${n}.txt`, '-x', '+z']).flat(),
      /at most 8388608 bytes together/,
    ],
  ])('takes no more %s than are bounded', async (_, lines, message) => {
    for (let n = 0; n < 9; n++) put(`big${n}.txt`, `x\n${'y'.repeat(1_000_000)}`);
    const outcome = await apply(...lines);
    expect(outcome).toMatchObject({ status: 'error', error: expect.stringMatching(message) });
    expect([got('f0'), got('a.txt'), got('big0.txt')?.startsWith('x')]).toEqual([null, 'one\ntwo\n', true]);
  });

  it('writes nothing where a later file lies outside', async () => {
    const outcome = await apply('*** Add File: ok.txt', '+ok', '*** Add File: ../../outside.txt', '+out');
    expect(outcome).toMatchObject({ status: 'error', error: expect.stringMatching(/outside/) });
    expect(got('ok.txt')).toBeNull();
  });

  it('names what is written when a later file cannot be', async () => {
    const write = session.writeFile.bind(session);
    session.writeFile = (path, content) => {
      return path === 'c.txt' ? Promise.reject(new Error('The disk is full')) : write(path, content);
    };
    const outcome = await apply('*** Add File: ok.txt', '+ok', '*** Add File: c.txt', '+c', '*** Delete File: b.txt');
    const error = 'c.txt could not be written (The disk is full); ok.txt was written before it.';
    expect(outcome).toMatchObject({ status: 'error', error });
    expect([got('ok.txt'), got('b.txt')]).toEqual(['ok\n', 'b\n']);
  });

  it('refuses many hunks for a long file', async () => {
    put('long.txt', `${'x'.repeat(1_000_000)}\n`);
    const outcome = await apply('*** Update File: long.txt', ...Array.from({ length: 60 }, () => ['@@', '+x']).flat());
    expect(outcome).toMatchObject({ status: 'error', error: expect.stringMatching(/too long for 60 hunks/) });
  });

  it.each([
    ['gpt-5.5', true],
    ['gpt-5', true],
    ['openai/gpt-5.1-codex', true],
    ['gpt-4.1', false],
    ['gpt-35-turbo', false],
    ['claude-sonnet-5-5', false],
    ['qwen3-coder', false],
  ])('is offered to %s in place of edit and write: %s', (model, offered) => {
    const provider = new AiSdkProvider(
      readEnv({ OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:9', OPENAI_COMPATIBLE_MODEL: model }),
    );
    const id = provider.list()[0]?.id ?? '';
    const names = bench.registry.definitions(provider.writesPatches(id)).map(({ name }) => name);
    expect(['apply_patch', 'edit', 'write'].map((name) => names.includes(name))).toEqual([offered, !offered, !offered]);
  });
});
