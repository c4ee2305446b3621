import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import type { AgentBody } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

describe('Agents from a client (reference §19, §27.5)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clients-agents-'));
  let owner: Member;
  const service = useService(bootWorker);
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const line = async (args: string[], input = '') => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: owner.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end(input);
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const mw = (args: string[], input = '') => line(['agents', ...args], input);
  const told = <T = AgentBody>({ out }: { out: string }) => JSON.parse(out) as T;

  it('the command makes one of options and a file of instructions, and gives one that is there its next version', async () => {
    const file = join(folder, 'review.md');
    writeFileSync(file, 'Review the change.\n');
    const limits = ['--max-steps', '20', '--approvals', 'writes', '--deny', 'write', '--deny', 'edit', '--no-web'];
    const made = await mw([
      'set',
      'reviewer',
      '--instructions',
      `@${file}`,
      ...limits,
      '--check',
      'npm test',
      '--json',
    ]);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(told(made)).toMatchObject({
      ...{ slug: 'reviewer', version: 1, instructions: 'Review the change.\n', approvals: 'writes', web: false },
      ...{ budget: { maxSteps: 20 }, tools: { deny: ['write', 'edit'] }, checks: [{ command: 'npm test' }] },
    });
    const again = await mw(['set', 'reviewer', '--instructions', 'Two.', '--channel', 'stable=1', '--name', 'Reviewer', '--default']); // prettier-ignore
    expect(again.out).toBe('reviewer  version 2  stable=1  default  Reviewer\n');
    expect((await mw(['set', 'reviewer', '--channel', 'beta=2', '--channel', 'stable='])).out).toContain('version 2  beta=2  '); // prettier-ignore
    expect((await mw(['versions', 'reviewer'])).out).toMatch(/^2 {2}\S+ {2}User \d+\n1 {2}\S+ {2}User \d+\n$/);
    expect((await mw(['archive', 'reviewer'])).out).toContain('  archived  Reviewer');
    expect((await mw(['list'])).out).toBe('');
    expect((await mw(['list', '--archived'])).out).toContain('reviewer');
    expect((await mw(['archive', 'reviewer', '--undo'])).out).not.toContain('archived');
  });

  it('the command takes what it has shown: an old version comes back, a copy is made', async () => {
    await mw(['set', 'reviewer', '--instructions', 'One.']);
    await mw(['set', 'reviewer', '--instructions', 'Two.']);
    const old = await mw(['show', 'reviewer', '1', '--json']);
    expect(told(await mw(['set', 'reviewer', '--file', '-', '--json'], old.out))).toMatchObject({ version: 3, instructions: 'One.' }); // prettier-ignore
    const whole = await mw(['show', 'reviewer']);
    expect(told(await mw(['set', 'copy', '--file', '-', '--json'], whole.out))).toMatchObject({ version: 1, instructions: 'One.' }); // prettier-ignore
  });

  it('the command runs a task as one, as a version of it, or as none, and says what came of them', async () => {
    await mw(['set', 'reviewer', '--default']);
    await mw(['set', 'reviewer', '--instructions', 'Two.', '--channel', 'stable=1']);
    const run = async (...agent: string[]) =>
      told<{ agent: object | null }>(await line(['run', 'x', ...agent, '--detach', '--json'])).agent;
    expect(await run('--agent', 'reviewer')).toEqual({ slug: 'reviewer', version: 2 });
    expect(await run('--agent', 'reviewer@stable')).toEqual({ slug: 'reviewer', version: 1 });
    expect(await run()).toEqual({ slug: 'reviewer', version: 2 });
    expect(await run('--agent', '-')).toBeNull();
    expect((await line(['run', 'x', '--agent', 'reviewer@1'])).code).toBe(0);
    const { out } = await mw(['stats', 'reviewer']);
    expect(out).toMatch(/^version 2 {2}2 tasks {2}.*\nversion 1 {2}2 tasks {2}.*0 questions {2}\d+ steps {2}.*\n$/);
    expect(told<{ versions: { version: number }[] }>(await mw(['stats', 'reviewer', '--json'])).versions).toHaveLength(
      2,
    );
  });

  it('the command compares versions on tasks that there were, and on cases of a file', async () => {
    await mw(['set', 'reviewer']);
    await mw(['set', 'reviewer', '--instructions', 'Two.']);
    const { id } = told<{ id: string }>(await line(['run', 'x', '--detach', '--json']));
    const one = await mw(['evaluate', 'reviewer', '--versions', '1,2', '--task', id]);
    expect(one).toMatchObject({ code: 0, out: expect.stringMatching(/^version 2 {2}1 tasks {2}.*\nversion 1 {2}1 tasks {2}/) as string }); // prettier-ignore
    const cases = JSON.stringify({ cases: [{ content: 'x' }], versions: [2] });
    const two = await mw(['evaluate', 'reviewer', '--file', '-', '--repeat', '2', '--json'], cases);
    expect(told<{ tasks: object[]; status: string }>(two)).toMatchObject({ status: 'completed', tasks: [{}, {}] });
  });

  it('the command says what is wrong', async () => {
    const wrong: [string[], number, string][] = [
      [['get'], 2, 'mw agents list|show|set|archive|versions|stats|evaluate'],
      [['show', 'none'], 5, 'There is no such agent'],
      [['show', 'none', 'x'], 2, 'The version is a number'],
      [['set', 'a', '--instructions', '@none.md'], 2, '--instructions none.md: there is no such file'],
      [['set', 'a', '--channel', 'stable'], 2, '--channel takes NAME=VERSION'],
      [['set', 'a', '--max-steps', 'x'], 2, '--max-steps takes a number'],
      [['set', 'a', '--deny', 'bsh'], 5, 'there is no tool bsh'],
    ];
    for (const [args, code, err] of wrong) {
      expect([args, await mw(args)]).toMatchObject([args, { code, err: expect.stringContaining(err) }]);
    }
  });

  it('the SDK creates, reads and changes them, with their versions and stats', async () => {
    const { agents, tasks } = new Millwright({ apiKey: owner.key.secret, baseUrl: service.url });
    const made = await agents.create({ slug: 'reviewer', instructions: 'One.' });
    expect(await agents.get('reviewer')).toEqual(made);
    expect(await agents.update('reviewer', { version: 1, instructions: 'Two.' })).toMatchObject({ version: 2 });
    await expect(agents.update('reviewer', { version: 1, name: 'x' })).rejects.toMatchObject({
      code: 'version_conflict',
    });
    expect((await agents.versions('reviewer').page()).items.map(({ version }) => version)).toEqual([2, 1]);
    expect(await agents.version('reviewer', 1)).toMatchObject({ version: 1, instructions: 'One.' });
    const task = await tasks.create({ content: 'x', agent: 'reviewer@1' });
    expect(task.agent).toEqual({ slug: 'reviewer', version: 1 });
    expect((await agents.stats('reviewer')).versions).toMatchObject([{ version: 1, tasks: 1 }]);
    await agents.update('reviewer', { version: 2, archived: true });
    expect((await agents.list().page()).items).toEqual([]);
    expect((await agents.list({ archived: 'all' }).page()).items).toHaveLength(1);
  });
});
