import { readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Logger } from '@nestjs/common';
import { COMMAND_VARIABLES } from './root-folder.js';
import { NETWORK_VARIABLES, PROXY_PORT } from '../network/inside.js';
import { newMark, processesWith, sleeps } from '../../../../test/harness/processes.js';
import {
  describeWays,
  type Installation,
  putIntoEnvironment,
  startAs,
  SURVEY,
  type TaskSandbox,
  type Way,
} from '../../../../test/harness/sandboxes.js';

const SECRET = 'sk-millwright-isolation-secret';

/** @param shared whether its commands enter one box, as those of the agent do. */
function isolation(way: Way, shared: boolean): void {
  let service: Installation;
  let task: TaskSandbox;
  beforeAll(async () => {
    Logger.overrideLogger(['error', 'fatal']);
    putIntoEnvironment('MILLWRIGHT_TEST_KEY', SECRET);
    service = await startAs(way, { network: 'allow', allowHosts: ['allowed.test'] });
    task = await service.open();
  });
  afterAll(() => service.close());

  const run = async (command: string, env: Record<string, string> = {}) => {
    const { stdout, stderr, exitCode } = await task.run(command, { env, shared });
    return { out: stdout.trim(), err: stderr.trim(), exitCode };
  };
  /** The command, and that it has failed for the reason that is meant. */
  const refused = async (command: string, reason: RegExp) => {
    const { err, exitCode } = await run(command);
    expect({ command, err, failed: exitCode !== 0 }).toEqual({
      command,
      err: expect.stringMatching(reason) as string,
      failed: true,
    });
  };

  it('works as it says at boot', async () => {
    const report = await service.check();
    expect(report.driver).toBe(way.driver);
    expect(report.active.length).toBeGreaterThan(0);
    expect(report.missing.join(' ')).not.toMatch(/does not run inside|lo up|rg is not/);
    // It holds on every machine, so that it is no warning.
    expect(report.active.join(' ')).toContain('The disk limit is watched');
    expect(report.missing.join(' ')).not.toMatch(/disk limit/);
    expect(report.active.join(' ')).toContain('A filter of system calls');
    expect(report.missing.join(' ')).not.toMatch(/filter|AF_VSOCK|keyring/);
  });

  describe('the network', () => {
    let server: Server;
    let port: number;
    let reached = 0;
    beforeAll(async () => {
      server = createServer((socket) => {
        reached += 1;
        socket.destroy();
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => new Promise((done) => server.close(done)));

    it('of the host is not there, its loopback included', async () => {
      const script = `require('net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('connect', () => console.log('CONNECTED'))`;
      expect((await run(`node -e "${script}"`)).out).toBe('ECONNREFUSED');
      expect((await run('tail -n +3 /proc/net/dev | cut -d: -f1')).out).toBe('lo');
      expect(reached).toBe(0);
    });

    it('of its own has a loopback that works', async () => {
      const script = `const s = require('net').createServer((c) => c.end('own')).listen(0, '127.0.0.1', () => require('net').connect(s.address().port, '127.0.0.1').on('data', (d) => { console.log(String(d)); process.exit() }))`;
      expect((await run(`node -e "${script}"`)).out).toBe('own');
    });
  });

  (shared ? it.skip : it)(
    'with hosts that may be reached, a command has one socket more, and nothing else',
    async () => {
      const [without, having] = [await task.run(SURVEY), await task.run(SURVEY, { network: true })];
      const more = having.stdout.split('\n').filter((line) => !without.stdout.split('\n').includes(line));
      const others = more.filter((line) => !(line in NETWORK_VARIABLES));
      expect(others).toEqual([
        expect.stringMatching(/^mount \/opt\/millwright\/network ro,nosuid,nodev/),
        expect.stringMatching(/^\/opt\/millwright\/network s 6[06]0 \d+$/),
        'node',
      ]);
      expect(more.length - others.length).toBe(Object.keys(NETWORK_VARIABLES).length);
      const refusal = `exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT}; printf 'CONNECT other.test:443 HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3`;
      expect((await task.run(refusal, { network: true })).stdout).toContain('other.test:443 is not among the hosts');
    },
  );

  describe('the environment', () => {
    it('has nothing of the service in it, and what is given', async () => {
      const { out } = await run('env -0 | tr "\\0" "\\n"; cat /proc/[0-9]*/environ | tr "\\0" "\\n"', {
        ANSWER: 'é "x"',
      });
      expect(out).not.toContain(SECRET);
      expect(out).toContain('ANSWER=é "x"');
      const names = [...new Set(out.split('\n').map((line) => line.split('=')[0]))].sort();
      expect(names.filter((name) => name !== 'OLDPWD')).toEqual(
        [
          'ANSWER',
          'HOME',
          'PATH',
          'PWD',
          'SHLVL',
          '_',
          ...Object.keys({ ...COMMAND_VARIABLES, ...(shared && NETWORK_VARIABLES) }),
        ].sort(),
      );
    });

    it('of the first process inside says nothing of the host, nor do its words', async () => {
      const { out } = await run('tr "\\0" "\\n" </proc/1/environ; echo; tr "\\0" "\\n" </proc/1/cmdline');
      const [names, words] = out.split('\n\n').length > 1 ? out.split(/\n\n([^]*)/) : ['', out];
      expect(
        names
          ?.split('\n')
          .filter((line) => !/^(PATH=[a-z/:]*|PWD=\/)$/.test(line))
          .join(''),
      ).toBe('');
      expect(words).toContain('/opt/millwright/box.sh');
      for (const hostly of [service.path, process.cwd(), 'setpriv', 'unshare', 'bwrap', '/tmp/']) {
        expect(out).not.toContain(hostly);
      }
    });

    it('has a home outside of the workdir that can be written, and lives on as /tmp does', async () => {
      expect((await run('touch ~/x /tmp/y && cd ~ && pwd')).out).toBe('/home/agent');
      expect((await run('ls ~/x /tmp/y && rm ~/x /tmp/y')).out).toBe('/home/agent/x\n/tmp/y');
    });
  });

  describe('of the host', () => {
    it.each(['/etc/shadow', '/root', '/var', '/sys', '/run', '/home/agent/.ssh'])('%s is not there', async (path) => {
      await refused(`ls -d ${path}`, /No such file/);
    });

    it('the data folder, the temporary folder and the program are not there', async () => {
      await refused(`ls ${service.path}`, /No such file/);
      await refused(`ls ${process.cwd()}`, /No such file/);
      expect((await run('ls -A /tmp')).out).toBe('');
    });

    it('the system is read-only, and so are the root, /etc, /dev and /project', async () => {
      for (const path of ['/usr/x', '/x', '/etc/x', '/dev/x', '/project/x', '/opt/millwright/x']) {
        await refused(`touch ${path}`, /Read-only file system|Permission denied/);
      }
    });

    it('no process is visible', async () => {
      const { out } = await run('ls /proc | grep -E "^[0-9]+$" | wc -l');
      expect(Number(out)).toBeLessThan(8);
      await refused(`kill -0 ${process.pid}`, /No such process/);
    });

    it('the names of its keys, the command line of its kernel and the pressure on it are not there', async () => {
      expect(await run('cat /proc/keys /proc/key-users /proc/cmdline /proc/pressure/*')).toMatchObject({
        out: '',
        exitCode: 0,
      });
    });

    it('nothing in /proc can be written but settings of its own name spaces, nothing in /sys is there', async () => {
      const writable =
        'find /proc -mindepth 1 -maxdepth 1 ! -name "[0-9]*" ! -name "*self" -exec find {} -writable ";"';
      // Of its own messages and shared memory (ipc_namespaces(7)), and of its own process ids (pid_namespaces(7)).
      const { out } = await run(
        `${writable} 2>&- | grep -vE "^/proc/sys/(fs/mqueue/|kernel/(auto_msgmni|msg|sem|shm|pid_max|ns_last_pid))"; ls -A /sys 2>&-`,
      );
      expect(out).toBe('');
    });

    it('no setting can be written, not even with the value that it has', async () => {
      for (const path of [
        'kernel/core_pattern',
        'vm/overcommit_memory',
        'kernel/hostname',
        'user/max_user_namespaces',
      ]) {
        await refused(
          `v=$(cat /proc/sys/${path}) && printf %s "$v" > /proc/sys/${path}`,
          /Permission denied|Read-only/,
        );
      }
      await refused('printf "" > /proc/sysrq-trigger', /Permission denied|Read-only|No such file/);
    });
  });

  describe('privileges', () => {
    it('are none: no capability in any set, and none to be gained', async () => {
      const { out } = await run('grep -E "^(Cap|NoNewPrivs)" /proc/self/status | tr -d "\\t"');
      const none = ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((set) => `Cap${set}:0000000000000000`);
      expect(out.split('\n')).toEqual([...none, 'NoNewPrivs:1']);
    });

    it('do not suffice for mounts, name spaces, devices or another owner', async () => {
      await refused('mount -t tmpfs x /tmp', /permission|superuser|denied/i);
      await refused('umount /workdir', /umount failed/);
      await refused('mount -o remount,rw /usr', /permission|superuser|denied/i);
      await refused('unshare --user true', /unshare failed/);
      await refused('unshare --mount true', /unshare failed/);
      await refused('mknod /tmp/d b 254 0', /not permitted/);
      await refused('touch /tmp/f && chown 0 /tmp/f', /not permitted|Invalid argument/);
      await refused('hostname x', /must be root|not permitted|superuser|permission/i);
    });

    it('are those of an ordinary user who owns the workdir', async () => {
      expect((await run('id -u; id -un; stat -c %u /workdir; pwd')).out).toBe('1000\nagent\n1000\n/workdir');
    });

    it('are on the host those of a number without an account, or of the ordinary user who has started it', async () => {
      const owner = statSync(task.workdir).uid;
      if (way.user === 'root') {
        expect(owner).toBeGreaterThanOrEqual(64_001);
        expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${owner}:`);
      } else {
        expect(owner).toBe(statSync(service.path).uid);
        expect(owner).toBeGreaterThan(0);
      }
      const mark = newMark();
      const sleeping = task.run(`sleep ${mark}`, { shared });
      await sleeps(mark);
      // The command itself, not what is around the sandbox.
      for (const pid of processesWith(`sleep\0${mark}`)) {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        expect(status).toMatch(new RegExp(`^Uid:(\\t${owner}){4}$`, 'm'));
        expect(status).toMatch(new RegExp(`^Gid:(\\t${statSync(task.workdir).gid}){4}$`, 'm'));
        process.kill(pid, 'SIGKILL');
      }
      expect((await sleeping).exitCode).toBe(137);
    });
  });

  it('is ended before the service when the machine runs out of memory, and cannot change that', async () => {
    const lower = 'for n in 999 0 -1000; do echo $n > /proc/self/oom_score_adj; done';
    const { out } = await run(
      `(${lower}; cat /proc/self/oom_score_adj) 2>/dev/null; sort -u /proc/[0-9]*/oom_score_adj`,
    );
    expect(out).toBe('1000\n1000');
  });

  it('has node, npm, git and rg, which work without a network', async () => {
    const { out, exitCode } = await run(`set -e; mkdir -p repo; cd repo; git init -q; echo needle > a; git add a
      git -c user.name=a -c user.email=a@b commit -qm one; git status --short; rg -l needle; npm --version >/dev/null
      printf 'require("node:test")("t", () => {})' > t.test.js; node --test >/dev/null; node -p '1+1'`);
    expect({ out, exitCode }).toEqual({ out: 'a\n2', exitCode: 0 });
  });

  it('hides one task from the other, its files and its processes', async () => {
    const other = await service.open();
    for (const folder of ['/workdir', '/tmp', '~']) await other.writeFile(`${folder}/mine`, SECRET);
    const mark = newMark();
    const sleeping = expect(other.run(`exec sleep ${mark}`, { shared })).rejects.toThrow('closed');
    await sleeps(mark);
    const { out } = await run('cat /proc/[0-9]*/cmdline');
    expect(out).toContain('cat');
    expect(out).not.toContain(mark);
    expect((await run('ls -A /workdir /tmp ~')).out).not.toContain('mine');
    expect((await other.run('cat /workdir/mine /tmp/mine ~/mine')).stdout).toBe(SECRET.repeat(3));
    await refused(`ls ${other.workdir}`, /No such file/);
    await other.close();
    await sleeping;
  });
}

describe('The sandbox keeps apart', () => describeWays((way) => isolation(way, false)));
describe('The sandbox that commands share keeps apart', () => describeWays((way) => isolation(way, true)));
