import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describeGroups } from '../../../../test/harness/sandboxes.js';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { until } from '../../../../test/harness/until.js';
import { script } from '../host.js';
import { SandboxError } from '../sandbox.js';
import { ControlGroups } from './control-groups.js';

const MIB = 1024 * 1024;
const LIMITS = { memoryBytes: 128 * MIB, processes: 40, wallClockSeconds: 60, diskBytes: MIB, outputBytes: MIB };
const STRANGER = 77;

/** A hierarchy in a folder. What the kernel does by itself, such as filling a new group, is laid out beforehand. */
class FakeHost {
  private readonly folder = temporaryFolder();
  readonly proc = join(this.folder.path, 'proc');
  readonly top = join(this.folder.path, 'groups');

  constructor(own: string, controllers = 'cpu io memory pids') {
    mkdirSync(join(this.proc, 'self'), { recursive: true });
    writeFileSync(join(this.proc, 'self/cgroup'), `4:memory:/elsewhere\n0::${own}\n`);
    const mounts = `22 1 8:1 / / rw - ext4 /dev/sda rw\n31 22 0:26 / ${this.top} rw,nosuid shared:9 - cgroup2 cgroup2 rw\n`;
    writeFileSync(join(this.proc, 'self/mountinfo'), mounts);
    this.group('', controllers);
    if (own !== '/') this.group(own, controllers);
  }

  group(path: string, controllers = 'cpu io memory pids', procs: number[] = []): void {
    mkdirSync(join(this.top, path), { recursive: true });
    this.write(join(path, 'cgroup.controllers'), `${controllers}\n`);
    this.write(join(path, 'cgroup.subtree_control'), '\n');
    this.write(join(path, 'cgroup.procs'), procs.map((pid) => `${pid}\n`).join(''));
    // The one at the top has none.
    if (path !== '') this.write(join(path, 'cgroup.events'), 'populated 0\nfrozen 0\n');
    if (!path.endsWith('millwright-commands')) this.group(join(path, 'millwright-commands'), controllers);
  }

  /** A process and its parent, by whose line it is known who belongs to whom. */
  process(pid: number, parent: number): void {
    mkdirSync(join(this.proc, String(pid)), { recursive: true });
    writeFileSync(join(this.proc, String(pid), 'stat'), `${pid} (odd) name) S ${parent} 1 1\n`);
  }

  container(path = ''): this {
    this.write(join(path, 'cgroup.events'), 'populated 1\nfrozen 0\n');
    return this;
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.top, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.top, path), 'utf8').trim();
  }

  find(root: boolean): ControlGroups | string {
    return ControlGroups.find(LIMITS, { proc: this.proc, root });
  }

  remove(): void {
    this.folder.remove();
  }
}

describe('Control groups', () => {
  let host: FakeHost;
  afterEach(() => host.remove());
  const found = (root: boolean): ControlGroups => {
    const groups = host.find(root);
    if (typeof groups === 'string') throw new Error(groups);
    return groups;
  };

  it('are made by root at the top of the hierarchy, with their limits, and processes enter them', async () => {
    host = new FakeHost('/');
    const groups = found(true);
    expect(groups.path).toBe(join(host.top, 'millwright-commands'));
    const box = groups.open();
    const { path } = box.make();
    const set = (name: string, of = path) => readFileSync(join(of, name), 'utf8');
    expect([set('memory.max'), set('memory.oom.group'), set('pids.max')]).toEqual([String(128 * MIB), '1', '40']);
    // All commands of a box together.
    const all = join(path, '..');
    expect([set('memory.max', all), set('pids.max', all)]).toEqual([String(256 * MIB), '80']);
    expect(existsSync(join(all, 'memory.oom.group'))).toBe(false);
    expect(groups.cpu).toBe(true);
    expect(host.read('millwright-commands/cpu.weight')).toBe('50');
    const entered = spawn('/bin/sh', ['-c', script('enter'), 'enter', box.path, 'cat', '/proc/self/oom_score_adj']);
    const said = once(entered.stdout, 'data');
    expect(await once(entered, 'exit')).toEqual([0, null]);
    expect(String(await said)).toBe('1000\n');
    expect(set('cgroup.procs', box.path)).toBe('0\n');
    box.make().take(4711);
    expect(readFileSync(join(all, '1/cgroup.procs'), 'utf8')).toBe('4711');
  });

  it('are not entered by halves: what cannot enter does not begin', () => {
    host = new FakeHost('/');
    const words = ['-c', script('enter'), 'enter', join(host.top, 'absent'), 'echo', 'begun'];
    expect(spawnSync('/bin/sh', words, { encoding: 'utf8' })).toMatchObject({ status: 126, stdout: '' });
  });

  it('hand memory and processes on, also where the processor cannot be', () => {
    host = new FakeHost('/', 'memory pids');
    expect(found(true).cpu).toBe(false);
    expect(host.read('cgroup.subtree_control')).toBe('+memory +pids');
    expect(host.read('millwright-commands/cgroup.subtree_control')).toBe('+memory +pids');
  });

  it('are made below a group of its own, out of which the service moves with its children', () => {
    host = new FakeHost('/app.scope').container();
    host.process(91, process.pid);
    host.process(92, 91);
    host.group('app.scope', 'memory pids', [process.pid, 92]);
    expect(found(false).path).toBe(join(host.top, 'app.scope/millwright-commands'));
    expect(host.read('app.scope/millwright-service/cgroup.procs')).toBe('92');
    expect(host.read('app.scope/cgroup.subtree_control')).toBe('+memory +pids');
  });

  it('take the processes that have started the service along only where there is no other way', () => {
    host = new FakeHost('/app.scope');
    host.process(process.pid, 90);
    host.group('app.scope', 'memory pids', [90, process.pid]);
    expect(found(true).path).toBe(join(host.top, 'millwright-commands'));
    expect(existsSync(join(host.top, 'app.scope/millwright-service'))).toBe(false);
    expect(found(false).path).toBe(join(host.top, 'app.scope/millwright-commands'));
  });

  it('move nobody else: a group with strangers stays as it is', () => {
    host = new FakeHost('/session.scope').container();
    host.process(STRANGER, 1);
    host.group('session.scope', 'cpu memory pids', [process.pid, STRANGER]);
    expect(host.find(false)).toBe(`${host.top}/session.scope: other processes are in it (${STRANGER})`);
    expect(existsSync(join(host.top, 'session.scope/millwright-service'))).toBe(false);
    expect(host.read('session.scope/cgroup.subtree_control')).toBe('');
  });

  it('are found again from the leaf in which a process was started', () => {
    host = new FakeHost('/app.scope/millwright-service').container();
    host.group('app.scope');
    expect(found(false).path).toBe(join(host.top, 'app.scope/millwright-commands'));
  });

  it.each([
    [
      'control groups of the first version have the controllers',
      '/',
      'hugetlb',
      true,
      /no controller for memory and pids/,
    ],
    ['an ordinary user stands at the top', '/', 'memory pids', false, /: it belongs to root$/],
    ['the own group lies outside of what is mounted', '/../other', 'memory pids', false, /: it belongs to root$/],
  ])('are not used where %s, and it says so', (_, own, controllers, root, reason) => {
    host = new FakeHost('/', controllers);
    writeFileSync(join(host.proc, 'self/cgroup'), `0::${own}\n`);
    expect(host.find(root)).toMatch(reason);
  });

  it('are not used where they are not mounted, and it says so', () => {
    host = new FakeHost('/');
    writeFileSync(join(host.proc, 'self/mountinfo'), '22 1 8:1 / / rw - ext4 /dev/sda rw\n');
    expect(host.find(true)).toBe('control groups v2 are not mounted');
  });

  it('of a killed worker go at the next boot, when nobody is in them; all others stay', () => {
    host = new FakeHost('/');
    const dead = spawnSync('/bin/true').pid;
    const here = hostname().replaceAll('.', '-');
    const left = [
      `${here}.${dead}.a.0`,
      `${here}.${dead}.a.1`,
      `${here}.${process.pid}.a.0`,
      `other-host.${dead}.a.0`,
      'theirs',
    ];
    for (const name of left) mkdirSync(join(host.top, 'millwright-commands', name));
    // The kernel refuses to remove a group with processes, as a folder with a file.
    host.write(`millwright-commands/${left[1]}/cgroup.procs`, '5\n');
    found(true);
    const names = readdirSync(join(host.top, 'millwright-commands'));
    expect(left.filter((name) => names.includes(name))).toEqual(left.slice(1));
  });

  it('that the kernel does not make are an error of the sandbox: no command begins without one', () => {
    host = new FakeHost('/');
    const groups = found(true);
    rmSync(groups.path, { recursive: true });
    expect(() => groups.open()).toThrow(SandboxError);
  });

  it('say whether the kernel ended them for their memory', () => {
    host = new FakeHost('/');
    const group = found(true).open().make();
    const events = (kills: number) =>
      writeFileSync(join(group.path, 'memory.events'), `low 0\nmax 9\noom 1\noom_kill ${kills}\noom_group_kill 0\n`);
    expect(group.outOfMemory()).toBe(false);
    events(0);
    expect(group.outOfMemory()).toBe(false);
    events(3);
    expect(group.outOfMemory()).toBe(true);
  });
});

describeGroups('Real control groups', (find) => {
  it('bound processes by themselves, and end the processes that are left in them', async () => {
    const group = find({ ...LIMITS, processes: 20 })
      .open()
      .make();
    const read = (file: string) => readFileSync(join(group.path, file), 'utf8');
    const words = [
      '-c',
      script('enter'),
      'enter',
      group.path,
      '/bin/sh',
      '-c',
      'for i in $(seq 40); do sleep 600 & done',
    ];
    const child = spawn('/bin/sh', words, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until('the kernel to refuse a process', () => /^max [1-9]/m.test(read('pids.events')));
    expect(Number(read('pids.current'))).toBeLessThanOrEqual(20);
    expect(group.outOfMemory()).toBe(false);
    await group.remove();
    expect(existsSync(group.path)).toBe(false);
    await ended;
  });

  it('of a process that was killed are removed by the next one, once nobody is in them', async () => {
    const folder = find(LIMITS).path;
    const here = hostname().replaceAll('.', '-');
    const left = join(folder, `${here}.${spawnSync('/bin/true').pid}.a.0`);
    mkdirSync(left);
    const sleeper = spawn('/bin/sh', ['-c', script('enter'), 'enter', left, 'sleep', '600'], { stdio: 'ignore' });
    const ended = once(sleeper, 'exit');
    await until('the process to enter', () => readFileSync(join(left, 'cgroup.procs'), 'utf8') !== '');
    find(LIMITS);
    expect(existsSync(left)).toBe(true);
    sleeper.kill('SIGKILL');
    await ended;
    find(LIMITS);
    expect(existsSync(left)).toBe(false);
  });
});
