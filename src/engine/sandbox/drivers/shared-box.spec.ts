import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { childrenOf, newMark, processesWith, sleeps } from '../../../../test/harness/processes.js';
import { describeDrivers, type DriverName, missingGroups, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import type { RunOptions, SandboxSession } from '../sandbox.js';

const MIB = 1024 * 1024;
const PORT = 5001;
const SERVER = `node -e "require('http').createServer((_, answer) => answer.end('hello')).listen(${PORT}, '127.0.0.1')"`;
const ASK = `exec 3<>/dev/tcp/127.0.0.1/${PORT} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -n 1 <&3`;

const shared = (session: SandboxSession, command: string, options: RunOptions = {}) =>
  session.run(command, { shared: true, ...options });
const kill = (pids: number[]) => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));
/** The small parents of the boxes of this process: one for each. */
const boxes = () => childrenOf(process.pid).filter((pid) => lineOf(pid).includes('\0launch\0'));
/** The first process of each box of one service. */
const holders = (dataDir: string) =>
  processesWith('/opt/millwright/box.sh').filter(
    (pid) => /^NSpid:.*\t1$/m.test(read(`/proc/${pid}/status`)) && read(`/proc/${pid}/mountinfo`).includes(dataDir),
  );
const lineOf = (pid: number) => read(`/proc/${pid}/cmdline`);
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function sharing(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => {
    Logger.overrideLogger(['error', 'fatal']);
    bench = new SandboxBench(driver, { memoryBytes: 256 * MIB, processes: 60, outputBytes: 2 * MIB });
  });
  afterAll(() => bench.close());
  afterEach(() => expect(boxes()).toEqual([]));
  /** Ends with the test. */
  const opened = async (work: (session: SandboxSession) => Promise<void>, taskId?: string) => {
    const { session } = await bench.open(taskId);
    try {
      await work(session);
    } finally {
      await session.close();
    }
  };
  /** A command that goes on until the test ends it, or its session. */
  const inBackground = async (session: SandboxSession, command: string) => {
    const mark = newMark();
    const ended = shared(session, `${command} exec sleep ${mark}`).catch((error: Error) => error);
    await sleeps(mark);
    return { mark, ended };
  };

  it('a server that one command has started answers the next, which finds it by ps and ends it', async () => {
    await opened(async (session) => {
      const server = shared(session, SERVER);
      await until('the server to answer', async () => (await shared(session, ASK)).stdout === 'hello');
      expect((await shared(session, 'ps -eo args')).stdout).toContain('createServer');
      // One box for all of them.
      expect(boxes()).toHaveLength(1);
      await shared(session, 'pkill -f createServer');
      expect(await server).toMatchObject({ exitCode: 143, killed: null });
      expect((await shared(session, ASK)).exitCode).not.toBe(0);
    });
  });

  it('/tmp and /dev/shm are those of the command before, and no other command has them', async () => {
    await opened(async (session) => {
      await shared(session, 'echo kept > /dev/shm/a; echo kept > /tmp/a');
      expect((await shared(session, 'cat /dev/shm/a /tmp/a')).stdout).toBe('kept\nkept\n');
      // What the service runs by itself, and another task.
      expect((await session.run('ls -A /dev/shm; cat /tmp/a')).stdout).toBe('kept\n');
      await opened(async (other) => {
        expect((await shared(other, 'ls -A /dev/shm /tmp')).stdout).toBe('/dev/shm:\n\n/tmp:\n');
      });
    });
  });

  it('what the service runs by itself sees nothing that the agent has started, and is not reached by it', async () => {
    await opened(async (session) => {
      const { mark } = await inBackground(session, '');
      const alone = await session.run('ps -eo args | grep -c slee[p]; ls /proc/*/exe | wc -l');
      expect(alone.stdout).toMatch(/^0\n/);
      expect((await shared(session, 'ps -eo args')).stdout).toContain(mark);
      await session.endShared();
      expect(processesWith(mark)).toEqual([]);
    });
  });

  it('two sessions see nothing of each other', async () => {
    await opened(async (session) => {
      const { mark } = await inBackground(session, `${SERVER} &`);
      await until('the server to answer', async () => (await shared(session, ASK)).stdout === 'hello');
      await opened(async (other) => {
        expect((await shared(other, ASK)).exitCode).not.toBe(0);
        expect((await shared(other, 'ps -eo args; cat /proc/[0-9]*/cmdline')).stdout).not.toContain(mark);
        expect((await shared(other, 'ls /opt/millwright/pipes')).stderr).toMatch(/Permission denied/);
        await shared(other, 'kill -9 -1').catch(() => undefined);
      });
      expect(processesWith(mark)).not.toEqual([]);
    });
  });

  it('all of it ends with the session, background commands too', async () => {
    let mark = '';
    await opened(async (session) => {
      mark = (await inBackground(session, 'trap "" TERM; setsid sleep 900 &')).mark;
    });
    expect(processesWith(mark)).toEqual([]);
  });

  describe('ends all processes of a command with it, and none of another one,', () => {
    it.each([
      ['a daemon in a session of its own', (m: string) => `setsid nohup sh -c 'trap "" TERM HUP INT; sleep ${m} & sleep ${m}' >&- 2>&- <&- & until pgrep -fx 'sleep ${m}' >/dev/null; do :; done`], // prettier-ignore
      ['one without an environment, whose parents have ended', (m: string) => `env -i setsid sh -c '(env -i setsid sleep ${m} &) &' & until pgrep -fx 'sleep ${m}' >/dev/null; do :; done`], // prettier-ignore
      ['one that pretends to be of another command', (m: string) => `own=$(prlimit --rttime --output=HARD --noheadings); prlimit --pid $$ --rttime=$((own - 1)); setsid sleep ${m} >&- 2>&- & until pgrep -fx 'sleep ${m}' >/dev/null; do :; done`], // prettier-ignore
      ['one that forks as fast as it can and goes on in its children', (m: string) => `perl -MPOSIX -e 'fork and exit; setsid; $0 = "sleep ${m}"; while (1) { defined(my $p = fork) or next; exit if $p }' >&- 2>&- & until pgrep -f '^sleep ${m}' >/dev/null; do :; done`], // prettier-ignore
    ])('%s', async (_, command) => {
      await opened(async (session) => {
        const other = await inBackground(session, '');
        const mark = newMark();
        const result = await shared(session, `${command(mark)}; echo over`).catch((error: Error) => error);
        expect(processesWith(mark).filter((pid) => !lineOf(pid).includes('bash'))).toEqual([]);
        expect(result).toMatchObject({ stdout: 'over\n' });
        expect(processesWith(other.mark)).not.toEqual([]);
      });
    });
  });

  it('ends one that forks, ignores signals, closes its streams and floods, at its limit of time; the next one runs beside what is left', async () => {
    await opened(async (session) => {
      const other = await inBackground(session, '');
      const wild = `trap '' TERM INT HUP QUIT; b() { b | b & }; (b) 2>&-; yes >/dev/null & exec >&- 2>&-; while :; do :; done`;
      const result = await shared(session, wild, { timeoutSeconds: 3 });
      expect(result).toMatchObject({ exitCode: 124, killed: 'timeout' });
      expect((await shared(session, 'ps -e --no-headers | wc -l')).stdout).toMatch(/^\d\n$/);
      const flood = await shared(session, 'yes flood');
      expect(flood).toMatchObject({ killed: 'output', exitCode: 137 });
      expect(processesWith(other.mark)).not.toEqual([]);
    });
  });

  it('tells of each command its own exit code and output, of those that run side by side too', async () => {
    await opened(async (session) => {
      const results = await Promise.all(Array.from({ length: 12 }, (_, i) => shared(session, `echo ${i}; exit ${i}`)));
      expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(results.map((_, i) => [i, `${i}\n`]));
      expect(boxes()).toHaveLength(1);
    });
  });

  it('what holds the box cannot be ended, stopped, traced or spoken to from inside', async () => {
    await opened(async (session) => {
      const attack = await shared(
        session,
        `for s in KILL STOP TERM INT HUP QUIT USR1 CHLD ABRT; do kill -$s 1; done
        for f in /proc/1/fd/* /proc/$PPID/fd/7; do (echo 'e 0123456789abcdef 0' > $f) && echo "wrote $f $(readlink $f)"; done
        (head -c 1 /proc/1/mem; echo x > /proc/1/mem; strace -p 1; gdb -p 1 -batch; echo x > /opt/millwright/pipes/x) && echo done
        ls /opt/millwright/pipes; echo over`,
      );
      expect(attack.stdout.replace(/^wrote \S+ \/dev\/null\n/gm, '')).toBe('over\n');
      expect(await shared(session, 'exit 7')).toMatchObject({ exitCode: 7 });
      expect(boxes()).toHaveLength(1);
    });
  });

  it('cannot be escaped by what ends all processes of the box: the next command runs', async () => {
    await opened(async (session) => {
      const other = await inBackground(session, '');
      await shared(session, 'kill -9 -1').catch((error: Error) =>
        expect(error.message).toMatch(/was cut off from outside/),
      );
      await other.ended;
      expect(processesWith(other.mark)).toEqual([]);
      expect(await shared(session, 'echo on')).toMatchObject({ stdout: 'on\n', stderr: '' });
    });
  });

  it('when what holds it is killed, the command says so, and the next one has a new box and is told what is gone', async () => {
    await opened(async (session) => {
      await shared(session, 'echo kept > /dev/shm/a; echo kept > /tmp/a');
      const { mark, ended } = await inBackground(session, '');
      kill(holders(bench.dataDir.path));
      expect(await ended).toMatchObject({ message: expect.stringMatching(/was cut off from outside/) as string });
      expect(processesWith(mark)).toEqual([]);
      const next = await shared(session, 'ls -A /dev/shm; cat /tmp/a');
      expect(next.stdout).toBe('kept\n');
      expect(next.stderr).toMatch(
        /^\[What earlier commands had left running is gone, and \/dev\/shm is empty: .*\]\n$/,
      );
      expect((await shared(session, 'true')).stderr).toBe('');
      expect(boxes()).toHaveLength(1);
    });
  });

  it('a box that commands cannot enter any more is replaced, and that is told', async () => {
    await opened(async (session) => {
      // What it starts inherits this limit and may not have another one.
      await shared(session, 'prlimit --pid 1 --rttime=5');
      const next = await shared(session, 'echo on');
      expect(next).toMatchObject({ stdout: 'on\n', exitCode: 0 });
      expect(next.stderr).toMatch(/^\[What earlier commands had left running is gone/);
    });
  });

  it('leaves no process, no pipe and no group after fifty sessions under kills', async () => {
    const fds = readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: 5 }, async (_, i) => {
          const { session, abort } = await bench.open();
          const mark = newMark();
          const run = Promise.allSettled([shared(session, `sleep 900 & sleep ${mark}`), shared(session, ASK)]);
          // Others are ended while their box is being made.
          if (i % 2 === 0) await sleeps(mark);
          if (i % 3 === 0) kill(boxes().slice(0, 1));
          if (i % 3 === 1) abort();
          await session.close();
          await run;
        }),
      );
    }
    expect(boxes()).toEqual([]);
    expect(holders(bench.dataDir.path)).toEqual([]);
    const places = readdirSync(bench.dataDir.path).filter((name) => name.startsWith('pipes.'));
    const left = places.flatMap((name) => readdirSync(join(bench.dataDir.path, name), { withFileTypes: true }));
    expect(left.filter((entry) => entry.isDirectory()).map(({ name }) => name)).toEqual([]);
    await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= fds + 2);
  });

  const grouped = missingGroups() === null ? it : it.skip;
  grouped('all commands together have twice the memory and processes of one', async () => {
    await opened(async (session) => {
      const hold = (mib: number) => `perl -e 'my $x = "x" x (${mib} * 1048576); $| = 1; print "held\n"; sleep 900'`;
      const all = [1, 2].map(() => shared(session, hold(200), { timeoutSeconds: 20 }));
      const third = await shared(session, hold(200), { timeoutSeconds: 15 });
      const results = [third, ...(await Promise.all(all))];
      expect(results.filter(({ killed }) => killed === 'memory').length).toBeGreaterThan(0);
      expect(existsSync('/sys/fs/cgroup')).toBe(true);
    });
  });

  // Elsewhere a control group bounds each command by itself.
  const counted = missingGroups() === null ? it.skip : it;
  counted('the processes of all commands together are bounded, and the next command still runs', async () => {
    await opened(async (session) => {
      const flood = `perl -e '$| = 1; $n = 0; while (defined($p = fork)) { if (!$p) { sleep 900; exit } $n++ } print "$n $!\n"; sleep 900'`;
      const first = shared(session, flood, { timeoutSeconds: 30 }).catch(() => undefined);
      const second = await shared(session, flood, { timeoutSeconds: 4 });
      expect(second.stdout).toMatch(/^\d+ Resource temporarily unavailable\n$/);
      const all = await shared(session, 'set -- /proc/[0-9]*; echo $#');
      expect(Number(all.stdout)).toBeLessThanOrEqual(2 * 60);
      void first;
    });
  });
}

describe('Shared commands of a session', () => describeDrivers(sharing));
