import { jest } from '@jest/globals';
import { childrenOf, processesGone, processesWith, sleeps } from '../../../../test/harness/processes.js';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { SandboxError } from '../sandbox.js';
import { slowIt } from '../../../../test/harness/slow.js';

let marks = 0;
/** An argument for `sleep` that no other process has; it takes that many seconds. */
const newMark = (seconds: number) => `${seconds}.0${process.pid}${Date.now()}${marks++}`;
/** Of the boxes of this process. */
const smallParents = () => processesWith('\0launch\0').filter((pid) => childrenOf(process.pid).includes(pid));
const kill = (pids: number[]) => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));

function ending(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  it('cut off after it has begun, says that it may have run partly; the next one runs', async () => {
    const { session } = await bench.open();
    const mark = newMark(900);
    const cut = session.run(`echo half > done; sleep ${mark}`).catch((error: unknown) => error);
    await sleeps(mark);
    kill(smallParents());
    const error = await cut;
    expect(error).toMatchObject({
      message: expect.stringMatching(/was cut off from outside; it may have run partly/) as unknown,
    });
    // That one would say that nothing was run, and end the turn.
    expect(error).not.toBeInstanceOf(SandboxError);
    await processesGone(mark);
    expect((await session.run('cat done')).stdout).toBe('half\n');
  });

  describe('whose output is taken by nobody, as on a disk that hangs', () => {
    let taken: () => void;
    let begun: Promise<void>;
    beforeEach(() => {
      begun = new Promise((resolve) => (taken = resolve));
    });
    const onOutput = () => (taken(), new Promise<void>(() => undefined));

    it('ends at its time limit', async () => {
      const { session } = await bench.open();
      const result = await session.run('exec yes', { timeoutSeconds: 1, onOutput });
      expect(result).toMatchObject({ exitCode: 124, killed: 'timeout' });
    });

    it('ends with the session', async () => {
      const { session } = await bench.open();
      const run = expect(session.run('exec yes', { onOutput })).rejects.toThrow('closed');
      await begun;
      await session.close();
      await run;
    });

    it('ends with the signal', async () => {
      const { session, abort } = await bench.open();
      const run = expect(session.run('exec yes', { onOutput })).rejects.toThrow('stop it');
      await begun;
      abort(new Error('stop it'));
      await run;
    });

    it('ends at its time limit also when all its processes have ended before', async () => {
      const { session } = await bench.open();
      const result = await session.run('seq 15000', { timeoutSeconds: 1, onOutput });
      expect(result).toMatchObject({
        exitCode: 0,
        killed: null,
        stdout: expect.stringMatching(/\n15000\n$/) as unknown,
      });
    });

    it('ends at its time limit also when the room for it is never told', async () => {
      const { session } = await bench.open();
      const measure = jest.spyOn(bench.space, 'measure').mockReturnValue(new Promise(() => undefined));
      try {
        const kept = { onOutput: () => undefined, keepsOutput: () => true };
        const result = await session.run('exec yes', { timeoutSeconds: 1, ...kept });
        expect(result.killed).toBe('timeout');
      } finally {
        measure.mockRestore();
      }
    });
  });
}

describe('A command', () => {
  describeDrivers(ending);

  describe('without a sandbox, whose output a process holds open that has got away', () => {
    /**
     * In a session of its own, and without the limit by which it would be found. The shell in between lets those who
     * look see a `sleep` only when it has got away: `env` and `setsid` carry the words of what they start.
     */
    const away = (mark: string) =>
      `(setsid sh -c "prlimit --pid \\$\\$ --rttime=9 && exec sleep ${mark}" &); until ps -eo args | grep -qx "sleep ${mark}"; do :; done`;
    let bench: SandboxBench;
    let mark: string;
    beforeAll(() => (bench = new SandboxBench('none')));
    beforeEach(() => {
      mark = newMark(20);
    });
    afterEach(() => {
      const left = processesWith(`sleep\0${mark}`);
      kill(left);
      // Nobody has waited for its end.
      expect(left).toHaveLength(1);
    });
    afterAll(() => bench.close());

    it('ends with its shell; what was written until then counts', async () => {
      const { session } = await bench.open();
      const result = await session.run(`${away(mark)}; seq 1 10000; echo last; exit 3`);
      expect(result).toMatchObject({ exitCode: 3, killed: null, truncated: false });
      expect(result.stdout).toMatch(/^1\n2\n[^]*10000\nlast\n$/);
    });

    slowIt('ends at its time limit', async () => {
      const { session } = await bench.open();
      const result = await session.run(`echo begun; ${away(mark)}; sleep 60`, { timeoutSeconds: 3 });
      expect(result).toMatchObject({ exitCode: 124, killed: 'timeout', stdout: 'begun\n' });
    });

    it('ends with the signal', async () => {
      const { session, abort } = await bench.open();
      const run = expect(session.run(`${away(mark)}; sleep 60`)).rejects.toThrow('stop it');
      await sleeps(mark);
      abort(new Error('stop it'));
      await run;
    });

    it('ends with the session', async () => {
      const { session } = await bench.open();
      const run = expect(session.run(`${away(mark)}; sleep 60`)).rejects.toThrow('closed');
      await sleeps(mark);
      await session.close();
      await run;
    });
  });
});
