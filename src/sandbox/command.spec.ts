import { processesGone, processesWith } from '../../test/harness/processes.js';
import { describeDrivers, type DriverName, SandboxBench } from '../../test/harness/sandboxes.js';
import { until } from '../../test/harness/until.js';
import { SandboxError } from './sandbox.js';

let marks = 0;
/** An argument for `sleep` that no other process has; it takes that many seconds. */
const newMark = (seconds: number) => `${seconds}.0${process.pid}${Date.now()}${marks++}`;
const running = (mark: string) => until('it runs', () => processesWith(`sleep\0${mark}`).length > 0);
const kill = (pids: number[]) => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));

function ending(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  it('cut off after it has begun, says that it may have run partly; the next one runs', async () => {
    const { session } = await bench.open();
    const mark = newMark(900);
    const cut = session.run(`echo half > done; sleep ${mark}`).catch((error: unknown) => error);
    await running(mark);
    const parents = processesWith('\0launch\0');
    kill(processesWith(mark).filter((pid) => parents.includes(pid)));
    const error = await cut;
    expect(error).toMatchObject({
      message: expect.stringMatching(/was cut off from outside; it may have run partly/) as unknown,
    });
    // That one would say that nothing was run, and end the turn.
    expect(error).not.toBeInstanceOf(SandboxError);
    await processesGone(mark);
    expect((await session.run('cat done')).stdout).toBe('half\n');
  });
}

describe('A command', () => {
  describeDrivers(ending);
});
