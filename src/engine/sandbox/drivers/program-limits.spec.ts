import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import type { SandboxSession } from '../sandbox.js';

const MIB = 1024 ** 2;
const program = { memoryBytes: 256 * MIB };

function programs(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver, { diskBytes: 48 * MIB, wallClockSeconds: 120 })));
  afterAll(() => bench.close());

  async function start(session: SandboxSession, command: string) {
    let text = '';
    const running = await session.start(command, { program, onOutput: (_, chunk) => void (text += String(chunk)) });
    const says = (expected: string) => until(`it to say ${expected}`, () => text.includes(expected));
    return { running, says, said: () => text };
  }
  /** Holds so many MiB open in files that have no name any more, and says what it reads. */
  const holding = (...sizes: number[]) =>
    [
      ...sizes.map((size, n) => `exec ${n + 5}<>hidden; rm hidden; head -c ${size * MIB} /dev/zero >&${n + 5}`),
      'echo held; while read -r line; do echo "<$line>"; done',
    ].join('\n');

  it('has no limit of processor time, as a command has', async () => {
    const { session } = await bench.open();
    expect((await session.run('ulimit -t; ulimit -Ht')).stdout).toMatch(/^\d+\n\d+\n$/);
    const { running, said } = await start(session, 'ulimit -t; ulimit -Ht');
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect(said()).toBe('unlimited\nunlimited\n');
  });

  it('counts for the disk with what it holds open, and a command is ended before it', async () => {
    const { session } = await bench.open();
    // Each of the two is within the limit, and so is a command that is alone.
    expect(await session.run(`head -c ${30 * MIB} /dev/zero > file; rm file`)).toMatchObject({ killed: null });
    const { running, says } = await start(session, holding(30));
    await says('held');
    expect(await session.run(`head -c ${30 * MIB} /dev/zero > file; sleep 100`)).toMatchObject({ killed: 'disk' });
    running.write('still here\n');
    await says('<still here>');
    running.end();
    expect(await running.ended).toMatchObject({ exitCode: 0, killed: null });
  });

  it('is ended itself when it holds more than the limit and no command runs', async () => {
    const { session } = await bench.open();
    const { running, says } = await start(session, holding(30, 30));
    await says('held');
    let over = false;
    const ended = running.ended.finally(() => (over = true));
    // It is looked at when it says something.
    await until('it to be ended', () => over || !running.write('x\n'), { within: 60_000, every: 200 });
    expect(await ended).toMatchObject({ killed: 'disk' });
  });
}

describe('A program in the sandbox of a task (reference §28)', () => {
  describeDrivers(programs);
});
