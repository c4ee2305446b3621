import { spawn } from 'node:child_process';
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
    expect(err).toMatch(/▸ check cat-done-txt\n {4}cat-done-txt passed, \d+\.\d s\n▸ check cat-done-txt-2\n/);
    expect(err).toContain('● completed\n');
    const { tasks } = new Millwright({ apiKey: member.key.secret, baseUrl: service.url });
    const found = [];
    for await (const { name, command, status } of tasks.checks(taskIn(err), { limit: 1 })) found.push([name, command, status]); // prettier-ignore
    expect(found).toEqual([
      ['cat-done-txt-2', 'cat done.txt', 'passed'],
      ['cat-done-txt', 'cat done.txt', 'passed'],
    ]);
  });

  it('the exit code is 1 when one does not pass; checks lists them with the end of what it wrote', async () => {
    const { code, err } = await mw('run', WORK, '--check', 'seq 1 40; exit 7', '--check', 'true', '--max-repairs', '0');
    expect(code).toBe(1);
    expect(err).toContain('    seq-1-40-exit-7 failed, exit code 7, ');
    expect(err).toContain('● failed: These checks did not pass: seq-1-40-exit-7.');
    const { out } = await mw('checks', taskIn(err));
    expect(out).toMatch(/^true {2}passed, \S+ s {2}turn 1, round 0\nseq-1-40-exit-7 {2}failed, exit code 7, \S+ s {2}turn 1, round 0\n {4}… 28 more lines\n {4}29\n/); // prettier-ignore
    expect(out).toMatch(/\n {4}40\n$/);
    const told = (await mw('checks', taskIn(err), '--json')).out.trim().split('\n');
    expect(told.map((line) => JSON.parse(line) as object)).toMatchObject([
      { name: 'true', status: 'passed', exitCode: 0 },
      { name: 'seq-1-40-exit-7', status: 'failed', exitCode: 7, output: expect.stringContaining('40\n') },
    ]);
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
