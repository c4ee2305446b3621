import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkName, Millwright } from '@millwright/sdk';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const WORK = '```bash\necho yes >done.txt\n```';

describe('Checks from a client (reference §19, §26)', () => {
  let member: Member;
  const service = useService(bootWorker);
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const mw = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: member.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const taskIn = (err: string) => /^Task (\S+)/.exec(err)?.[1] ?? '';

  it('run takes commands and protected paths, and says what becomes of each while it follows', async () => {
    const checks = ['--check', 'cat done.txt', '--check', 'cat done.txt', '--protect', 'test/**'];
    const { code, err } = await mw('run', WORK, ...checks, '--max-repairs', '0');
    expect(code).toBe(0);
    const told = err.split('\n').map((line) => line.replace(/\d+\.\d s$/, 'so long'));
    // On the original it fails; two may run at once.
    for (const name of ['cat-done-txt', 'cat-done-txt-2']) {
      expect(told).toEqual(expect.arrayContaining([`▸ check ${name} on the original`, `    ${name} on the original failed, exit code 1, so long`])); // prettier-ignore
      expect(told).toEqual(expect.arrayContaining([`▸ check ${name}`, `    ${name} passed, so long`]));
    }
    expect(err).toContain('● completed\n');
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const found = [];
    for await (const { phase, name, status } of tasks.checks(taskIn(err), { limit: 1 })) found.push([phase, name, status]); // prettier-ignore
    expect(found.sort()).toEqual([
      ['after', 'cat-done-txt', 'passed'],
      ['after', 'cat-done-txt-2', 'passed'],
      ['before', 'cat-done-txt', 'failed'],
      ['before', 'cat-done-txt-2', 'failed'],
    ]);
  });

  it('the exit code is 1 when one does not pass; checks lists them with the end of what it wrote', async () => {
    const { code, err } = await mw('run', WORK, '--check', 'seq 1 40; exit 7', '--check', 'true', '--max-repairs', '0');
    expect(code).toBe(1);
    expect(err).toContain('    seq-1-40-exit-7 failed, exit code 7, ');
    expect(err).toContain('● failed: These checks did not pass: seq-1-40-exit-7.');
    const { out } = await mw('checks', taskIn(err));
    expect(out).toMatch(/^true {2}passed, \S+ s {2}turn 1, round 0\n/m);
    expect(out).toMatch(/^true {2}passed, \S+ s {2}on the original\n/m);
    expect(out).toMatch(/^seq-1-40-exit-7 {2}failed, exit code 7, \S+ s {2}turn 1, round 0\n {4}… 28 more lines\n {4}29\n( {4}\d+\n){10} {4}40\n/m); // prettier-ignore
    const told = (await mw('checks', taskIn(err), '--json')).out.trim().split('\n');
    expect(told.map((line) => JSON.parse(line) as object)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'true', phase: 'after', status: 'passed', exitCode: 0 }),
        expect.objectContaining({
          name: 'seq-1-40-exit-7',
          phase: 'after',
          status: 'failed',
          exitCode: 7,
          output: expect.stringContaining('40\n'),
        }),
      ]),
    );
  });

  it('checks --again runs them once more without the agent, says what becomes of each, and lists these alone', async () => {
    const { err: made } = await mw(
      'run',
      '```bash\ntrue\n```',
      '--check',
      'echo seen; cat done.txt',
      '--max-repairs',
      '0',
    );
    const id = taskIn(made);
    const before = (await mw('checks', id)).out.match(/^\S+ {2}/gm)?.length ?? 0;
    const { code, out, err } = await mw('checks', id, '--again');
    expect(code).toBe(1);
    expect(err).toMatch(
      /^● queued\n(.*\n)*▸ check echo-seen-cat-done-txt\n {4}echo-seen-cat-done-txt failed, exit code 1, \d+\.\d s\n\+ proof\.json .*\n● failed: /,
    );
    expect(out).toMatch(
      /^echo-seen-cat-done-txt {2}failed, exit code 1, \S+ s {2}turn 1, round 0\n {4}seen\n {4}cat: /,
    );
    expect(out.match(/^\S+ {2}/gm)).toHaveLength(1);
    expect((await mw('checks', id)).out.match(/^\S+ {2}/gm)).toHaveLength(before + 1);
    const { out: json } = await mw('checks', id, '--again', '--json');
    expect(JSON.parse(json)).toMatchObject({ name: 'echo-seen-cat-done-txt', phase: 'after', status: 'failed' });
  });

  it('checks --again of a task that is under way, or has none, is refused', async () => {
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const { err } = await mw('run', '```bash\ntrue\n```');
    await expect(tasks.runChecks(taskIn(err))).rejects.toMatchObject({ status: 409, code: 'no_checks' });
    const { id } = await tasks.create({
      content: '```bash\nsleep 60\n```',
      checks: [{ name: 'one', command: 'true' }],
    });
    expect(await mw('checks', id, '--again')).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringContaining('its checks run when'),
    });
    await tasks.cancel(id);
  });

  it('proof prints what they saw, or saves it for verify', async () => {
    const { err } = await mw('run', WORK, '--check', 'cat done.txt');
    const folder = mkdtempSync(join(tmpdir(), 'millwright-proof-'));
    try {
      const file = join(folder, 'proof.json');
      expect(await mw('proof', taskIn(err), '--out', file)).toEqual({ code: 0, out: '', err: `Saved ${file}\n` });
      expect((await mw('proof', taskIn(err))).out).toBe(readFileSync(file, 'utf8'));
      const { code, out } = await mw('verify', file);
      expect([code, out]).toEqual([0, expect.stringContaining(`PASSED: cat-done-txt`)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const { err: none } = await mw('run', WORK);
    expect(await mw('proof', taskIn(none))).toMatchObject({ code: 5, out: '' });
  });

  it('a line that cannot be is refused before anything is made', async () => {
    expect(await mw('run', WORK, '--protect', 'test/**')).toMatchObject({ code: 2, err: expect.stringContaining('--protect goes with --check') }); // prettier-ignore
    expect(await mw('run', WORK, '--check', 'true', '--max-repairs', 'x')).toMatchObject({ code: 2, err: expect.stringContaining('--max-repairs takes a number') }); // prettier-ignore
  });

  it('a name is made of the command, as the service takes it', () => {
    const long = 'pytest -x tests/with/a/very/long/path/that/goes/on';
    const names = ['npm test', '  ./RUN.sh --all ', '---', '试', long].map((command) => checkName(command, new Set()));
    expect(names).toEqual(['npm-test', 'run-sh-all', 'check', 'check', 'pytest-x-tests-with-a-very-long-path-tha']);
    const again = checkName(long, new Set([names[4] ?? '']));
    expect(again).toBe('pytest-x-tests-with-a-very-long-path-t-2');
    for (const name of [...names, again]) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,39}$/);
  });
});
