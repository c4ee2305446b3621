import { newMark, processesGone, sleeps } from '../../../../test/harness/processes.js';
import { describeDrivers, type DriverName, missingGroups, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import type { SandboxSession } from '../sandbox.js';

const MEMORY = 3 * 1024 ** 3;

function program(driver: DriverName): void {
  let bench: SandboxBench;
  // A command has less memory than the program, and less time than it lives.
  beforeAll(() => {
    bench = new SandboxBench(driver, { wallClockSeconds: 2, memoryBytes: 1024 ** 3 });
  });
  afterAll(() => bench.close());
  const start = async (session: SandboxSession, command: string, cwd = '/workdir') => {
    let said = '';
    const onOutput = (_: 0 | 1, chunk: Buffer) => void (said += chunk.toString());
    const how = { cwd, network: true, prepared: true, onOutput, program: { memoryBytes: MEMORY } };
    const running = await session.start(command, how);
    const says = (words: string) => until(`it to say ${words}`, () => said.includes(words), { within: 60_000 });
    return { running, said: () => said, says };
  };

  it('runs in the folder that it is told, a repository too, and speaks with the service', async () => {
    const { session } = await bench.open();
    await session.run('mkdir repo');
    for (const cwd of ['/workdir', '/workdir/repo']) {
      const { running, says } = await start(session, 'pwd; while read -r line; do echo "<$line>"; done', cwd);
      await says(`${cwd}\n`);
      running.write('one\n');
      await says('<one>');
      running.end();
      expect(await running.ended).toMatchObject({ exitCode: 0 });
    }
  });

  it('has the home of the task, which stays for the next session', async () => {
    const first = await bench.open();
    const made = await start(first.session, 'mkdir -p ~/.codex && echo kept >~/.codex/session && echo "$HOME"');
    await made.running.ended;
    expect(made.said()).toBe('/home/agent\n');
    expect((await first.session.run('cat ~/.codex/session')).stdout).toBe('kept\n');
    await first.session.close();
    const second = await bench.open(first.taskId);
    const found = await start(second.session, 'cat ~/.codex/session');
    await found.running.ended;
    expect(found.said()).toBe('kept\n');
  });

  it('has neither a clock nor a limit of the processor, and outlives what a command may take', async () => {
    const { session } = await bench.open();
    const { running, says, said } = await start(
      session,
      'ulimit -St; ulimit -Ht; sleep 5; echo still here; read -r line',
    );
    await says('still here');
    expect(said()).toBe('unlimited\nunlimited\nstill here\n');
    running.stop();
    await running.ended;
  });

  it('has more memory than a command, where it is given that', async () => {
    const { session } = await bench.open();
    const node = `node -e "const all = []; for (let n = 0; n < 10; n++) all.push(Buffer.allocUnsafe(150 * 1024 ** 2)); console.log('all of it')"`;
    const { running, said } = await start(session, `ulimit -Sd; ulimit -Hd; ${node}`);
    expect(await running.ended).toMatchObject({ exitCode: 0, killed: null });
    const each = missingGroups() === null ? 'unlimited' : String(MEMORY / 1024);
    expect(said()).toBe(`${each}\n${each}\nall of it\n`);
    const command = await session.run('ulimit -Hd', { timeoutSeconds: 2 });
    expect(command.stdout).toBe(`${1024 ** 2}\n`);
  });

  it('stands beside commands, and ends with all of its own at the end of the session', async () => {
    const { session } = await bench.open();
    const mark = newMark();
    const { running, says } = await start(session, `setsid sleep ${mark} & echo up; sleep ${mark}`);
    running.ended.catch(() => undefined);
    await says('up');
    await sleeps(mark);
    expect((await session.run('echo beside', { shared: true })).stdout).toBe('beside\n');
    await session.close();
    await processesGone(mark);
  });
}

describe('A program that the service speaks with (reference §28, §30)', () => describeDrivers(program));
