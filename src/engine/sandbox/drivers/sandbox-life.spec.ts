import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import {
  childrenOf,
  commandLine,
  newMark,
  processesGone,
  processesWith,
  sleeps,
} from '../../../../test/harness/processes.js';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import { slowDescribe } from '../../../../test/harness/slow.js';

// A machine that stands still for two seconds must not make a worker silent, nor the end of a sandbox late.
/** Of the worker that is stopped. */
const LEASE_SECONDS = 8;
/** Of those that are not. */
const LONG_LEASE_SECONDS = 12;

const kill = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went with the one before.
  }
};
const passed = (seconds: number, what: string) => {
  const before = Date.now();
  return until(what, () => Date.now() - before > seconds * 1000);
};

/** Leaves its session, ignores every signal that can be ignored, and holds no pipe of the command. */
const daemon = (mark: string) =>
  `setsid nohup sh -c 'trap "" TERM HUP INT; sleep ${mark} & sleep ${mark}' </dev/null >/dev/null 2>&1 & until ps -eo args | grep -qx "sleep ${mark}"; do :; done`;

function life(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  describe('ends a whole process tree', () => {
    it('with the command, a daemon included', async () => {
      const { session } = await bench.open();
      const mark = newMark();
      expect((await session.run(`${daemon(mark)}; echo left`)).stdout).toBe('left\n');
      // No waiting: `run` resolves when they are gone.
      expect(processesWith(mark)).toEqual([]);
    });

    it('when the signal is aborted, and rejects with its reason', async () => {
      const { session, abort } = await bench.open();
      const mark = newMark();
      const run = session.run(`${daemon(mark)}; sleep ${mark}`);
      await sleeps(mark);
      abort(new Error('stop it'));
      await expect(run).rejects.toThrow('stop it');
      expect(processesWith(mark)).toEqual([]);
      await expect(session.run('true')).rejects.toThrow('stop it');
    });

    it('when it is aborted before anything has started', async () => {
      const { session, abort } = await bench.open();
      const mark = newMark();
      const run = session.run(`sleep ${mark}`);
      abort(new Error('at once'));
      await expect(run).rejects.toThrow('at once');
      expect(processesWith(mark)).toEqual([]);
    });

    it('when the session is closed, and close waits for it', async () => {
      const { session } = await bench.open();
      const mark = newMark();
      const run = expect(session.run(`${daemon(mark)}; sleep ${mark}`)).rejects.toThrow('closed');
      await sleeps(mark);
      await session.close();
      expect(processesWith(mark)).toEqual([]);
      await run;
      await session.close();
    });

    slowDescribe('with the worker', () => {
      const workers: ChildProcess[] = [];
      const start = (leaseSeconds: number, command: string, ...more: number[]) => {
        const hooks = ['--import', './test/harness/typescript-hooks.mjs', 'test/harness/sandbox-worker.ts'];
        const worker = spawn(process.execPath, [...hooks, driver, String(leaseSeconds), command], {
          stdio: ['ignore', 'pipe', 'inherit', ...more],
        });
        workers.push(worker);
        const lines = createInterface({ input: worker.stdout ?? process.stdin })[Symbol.asyncIterator]();
        return { worker, lines, exited: once(worker, 'exit') };
      };
      const started = async (leaseSeconds: number) => {
        const mark = newMark();
        const one = start(leaseSeconds, `${daemon(mark)}; sleep ${mark}`);
        const folder = String((await one.lines.next()).value as unknown);
        await sleeps(mark);
        return { ...one, mark, folder, since: Date.now() };
      };
      // Lives through the tests before the one that it is for, which then need not wait as long.
      let living: Awaited<ReturnType<typeof started>>;
      beforeAll(async () => (living = await started(LONG_LEASE_SECONDS)));
      afterEach(() => workers.filter((worker) => worker !== living.worker).forEach((worker) => worker.kill('SIGKILL')));
      afterAll(() => workers.forEach((worker) => worker.kill('SIGKILL')));

      it('when that is killed', async () => {
        // Long after this test somebody would miss its heartbeats.
        const { worker, exited, mark, folder } = await started(600);
        worker.kill('SIGKILL');
        await exited;
        // Nothing here says how soon: what is left after 20 s stays, and the message names what it does.
        await processesGone(mark, 20_000);
        rmSync(folder, { recursive: true });
      });

      it('when that is stopped for two thirds of the lease, and the run then says so', async () => {
        const { worker, lines, exited, mark } = await started(LEASE_SECONDS);
        await passed(LEASE_SECONDS / 3, 'a heartbeat to have come');
        worker.kill('SIGSTOP');
        // From then on others may claim its run.
        const others = () => processesWith(mark).filter((pid) => pid !== worker.pid);
        await until('its processes are gone', () => others().length === 0, { within: LEASE_SECONDS * 1000 });
        worker.kill('SIGCONT');
        expect((await lines.next()).value).toMatch(
          /^Error: The command was cut off from outside; it may have run partly\./,
        );
        await exited;
      });

      it('and nothing of what that was started with is open inside', async () => {
        const held = openSync('package.json', 'r');
        const many = Array.from({ length: 30 }, () => held);
        // The first process has its program open, and the socket by which the worker speaks to it; all else would be foreign.
        const list = 'ls -l /proc/$$/fd /proc/1/fd > /tmp/fds; ';
        const count =
          'exit $(grep " -> " /tmp/fds | grep -vcE "(/dev/null|/millwright/(box.sh|pipes/.*)| [07] -> socket:.*)$")';
        const { lines, exited } = start(LONG_LEASE_SECONDS, list + count, ...many);
        closeSync(held);
        await lines.next();
        expect((await lines.next()).value).toBe('exit code 0');
        await exited;
      });

      it('only then: a worker that lives is heard for longer than that', async () => {
        const { lines, exited, mark, since } = living;
        const silence = (LONG_LEASE_SECONDS * 2000) / 3;
        await until('more than the silence to be over', () => Date.now() - since > silence + 500);
        expect(processesWith(mark)).not.toEqual([]);
        for (const pid of processesWith(`sleep\0${mark}`)) kill(pid);
        expect((await lines.next()).value).toBe('exit code 137');
        await exited;
      });
    });
  });

  describe('tells how a command ended:', () => {
    it.each([
      ['true', 0],
      ['exit 3', 3],
      ['kill -TERM $$', 143],
      ['kill -KILL $$', 137],
      ['no-such-program', 127],
    ])('%s → %i', async (command, exitCode) => {
      const { session } = await bench.open();
      expect(await session.run(command)).toMatchObject({ exitCode, killed: null, truncated: false });
      await session.close();
    });

    it('by its output, apart for both streams, also when a script opens them by name', async () => {
      const { session } = await bench.open();
      const result = await session.run('echo a; echo b >&2; echo c > /dev/stdout; echo d > /dev/stderr');
      expect(result).toMatchObject({ stdout: 'a\nc\n', stderr: 'b\nd\n', exitCode: 0 });
    });

    it('with replacement characters for what is no UTF-8, and without NUL', async () => {
      const { session } = await bench.open();
      expect((await session.run('printf "a\\000b\\377ü"')).stdout).toBe('ab\ufffdü');
    });
  });

  it('gives it standard input, a folder, and text of any length', async () => {
    const { session } = await bench.open();
    expect((await session.run('cat; cat /dev/stdin', { stdin: 'given' })).stdout).toMatch(/^given/);
    expect((await session.run('cat')).stdout).toBe('');
    // A stream, and of more than a pipe holds.
    const much = (part: string) => session.run(part, { stdin: Readable.from([Buffer.alloc(300_000, 'x'), 'end']) });
    expect((await much('tail -c 5')).stdout).toBe('xxend');
    expect((await much('cat /dev/stdin | tail -c 5; readlink /proc/self/fd/0')).stdout).toMatch(/^xxendpipe:/);
    expect((await much('head -c 1; exit 3')).exitCode).toBe(3);
    const endless = new PassThrough();
    endless.write('some');
    expect((await session.run('head -c 4; exit 3', { stdin: endless })).exitCode).toBe(3);
    await until('its source to be let go', () => endless.destroyed);
    expect((await session.run('sleep 0.1; cat /dev/stdin; cat', { stdin: 'given' })).stdout).toBe('given');
    const long = `set -u; cat <<'END' | wc -mc\n${'xü€🙂'.repeat(80_000)}\nEND\nls /proc/self/fd | wc -w; echo $# "$0" "$IFS"`;
    expect((await session.run(long)).stdout).toMatch(/^ *320001 +800001\n4\n0 \S+ [ ]\t\n\n$/);
    const tooLong = await session.run(`#${'x'.repeat(1024 * 1024)}`);
    expect(tooLong).toMatchObject({ exitCode: 126, stderr: expect.stringContaining('write a file instead') as string });
    await session.run('mkdir -p a/b');
    expect((await session.run('pwd', { cwd: 'a/b' })).stdout).toBe('/workdir/a/b\n');
    expect((await session.run('pwd', { cwd: '/workdir/a' })).stdout).toBe('/workdir/a\n');
    expect(await session.run('pwd', { cwd: '../..' })).toMatchObject({ exitCode: 126, stdout: '' });
    expect(await session.run('pwd', { cwd: 'absent' })).toMatchObject({ exitCode: 126, stdout: '' });
  });

  it('starts with a shell that reads no file of the service: with a socket as input it would take itself for a login', async () => {
    const { session } = await bench.open();
    const mark = newMark();
    const run = session.run(`cat; sleep ${mark}; true`, { stdin: Readable.from(['given']) });
    await sleeps(mark);
    const own = childrenOf(process.pid).filter((pid) => commandLine(pid).includes('\0launch\0'));
    const shells = [...own, ...processesWith(mark)].map((pid) => commandLine(pid).split('\0'));
    const launching = shells.filter((words) => /bash$/.test(words[0] ?? ''));
    expect(launching.map((words) => words.slice(1, 4))).toEqual(launching.map(() => ['--norc', '--noprofile', '-c']));
    // The small parent, and the command's own.
    expect(launching).toHaveLength(2);
    processesWith(`sleep\0${mark}`).forEach(kill);
    expect((await run).stdout).toBe('given');
  });

  it('lets programs be interrupted: no signal is ignored from the start', async () => {
    const { session } = await bench.open();
    expect((await session.run('sed -n "s/^SigIgn:\\t//p" /proc/self/status')).stdout).toBe('0000000000000000\n');
  });

  it('runs commands side by side, each for itself', async () => {
    const { session } = await bench.open();
    const results = await Promise.all(Array.from({ length: 16 }, (_, i) => session.run(`echo ${i}; exit ${i}`)));
    expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(results.map((_, i) => [i, `${i}\n`]));
  });

  it('leaves no descriptor and no file behind', async () => {
    const { session } = await bench.open();
    await session.run('true');
    const count = () => readdirSync('/proc/self/fd').length;
    const before = count();
    for (let i = 0; i < 10; i++) await session.run('echo x; echo y >&2', { stdin: 'z' });
    await until('they are closed', () => count() <= before);
  });
}

describe('The sandbox', () => describeDrivers(life));
