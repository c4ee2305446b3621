import { readFileSync } from 'node:fs';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { findProgram, needProgram, script } from '../host.js';
import { mountsOf } from '../network/inside.js';
import type { LaunchSpec, Prepared } from './launch-spec.js';
import { LocalSandbox } from './local-sandbox.js';
import { SHARED_MEMORY_PART } from '../limits/memory-report.js';
import type { Mount } from './programs.js';
import { DEVICES, EMPTY, HIDDEN, HOME, noExec, PIPES, sharedMounts } from './root-folder.js';
import { Sandbox, type SandboxReport } from '../sandbox.js';
import { MOUNT, seccompFilter, seccompLoader, seccompReport } from './seccomp.js';

const FLAGS = '--user --map-root-user --mount --pid --net --ipc --uts --cgroup --fork --kill-child'.split(' ');

/** Linux namespaces by util-linux alone (`unshare`, `mount`, `pivot_root`, `setpriv`, `prlimit`); a filter where perl is. */
@Plugin(Sandbox, 'namespaces')
export class NamespacesSandbox extends LocalSandbox {
  private readonly script = script('namespaces');
  private loader: string[] | null = null;
  private loopback: string | null = null;
  private unshare = '';
  private noExec = false;
  private mountNumber = '';

  protected async prepare({ base }: Prepared): Promise<void> {
    this.unshare = needProgram('unshare', 'util-linux');
    for (const name of ['mount', 'umount', 'pivot_root']) needProgram(name, 'mount and util-linux');
    this.loopback = loopbackCommand();
    this.loader = await seccompLoader(seccompFilter());
    this.noExec = await noExec(base);
    if (findProgram('perl') !== null) this.mountNumber = String(MOUNT ?? '');
  }

  protected command(spec: LaunchSpec, { root }: Prepared): string[] {
    const deep = [...root.mounts, ...spec.tools].some(hasMountsBelow) ? 'deep' : '';
    const words = [root.path, this.loopback ?? ':', this.mountNumber, deep];
    const build = ['/bin/sh', '-c', this.script, 'namespaces', ...words];
    return [this.unshare, ...FLAGS, ...build, ...(this.loader ?? []), ...spec.init];
  }

  protected override file(spec: LaunchSpec, { root }: Prepared): Buffer {
    return Buffer.from(this.mounts(spec, root.path, root.mounts));
  }

  protected report(probed: Map<string, string>): SandboxReport {
    const active = ['Own user, mount, process, network, IPC, host-name and control-group namespaces, no capabilities.'];
    const seccomp = seccompReport(this.loader !== null, probed.get('seccomp'));
    const missing = [...seccomp.missing];
    if (probed.get('loopback') !== 'yes') {
      missing.push('Nothing inside reaches 127.0.0.1: neither ip, ifconfig nor perl is there to bring lo up.');
    }
    return { driver: 'namespaces', active: [...active, ...seccomp.active], missing };
  }

  /** fstab(5) lines in the order in which they are mounted; nothing comes after the task's own folders. */
  private mounts(spec: LaunchSpec, root: string, mounts: Mount[]): string {
    const ours = this.noExec ? ',noexec' : '';
    const { workdir, tmp, home } = spec.folders;
    const shared = `nosuid,nodev,size=${Math.round(spec.limits.memoryBytes * SHARED_MEMORY_PART)},nr_inodes=100k`;
    const lines = [
      [root, root, 'none', `bind,ro,nosuid,nodev${ours}`],
      ...[...mounts, ...spec.tools].map((mount) => [
        mount.source,
        root + mount.target,
        'none',
        `${hasMountsBelow(mount) ? 'rbind' : 'bind'},ro,nosuid,nodev`,
      ]),
      ...DEVICES.map((name) => [`/dev/${name}`, `${root}/dev/${name}`, 'none', 'bind,nosuid']),
      ['proc', `${root}/proc`, 'proc', 'nosuid,nodev,noexec'],
      ...HIDDEN.map((path) => [root + EMPTY, root + path, 'none', `bind,ro,nosuid,nodev${ours}`]),
      // Of this sandbox alone: no terminal of the host's is in it.
      ['devpts', `${root}/dev/pts`, 'devpts', 'nosuid,noexec,newinstance,ptmxmode=0666,mode=620'],
      ['tmpfs', `${root}/dev/shm`, 'tmpfs', `${shared},mode=1777`],
      ...[...sharedMounts(spec.shared), ...mountsOf(spec.wayOut), [spec.pipes, PIPES]].map(([path = '', target]) => [
        path,
        root + target,
        'none',
        `bind,ro,nosuid,nodev${ours}`,
      ]),
      [tmp, `${root}/tmp`, 'none', `bind,nosuid,nodev${ours}`],
      [home, root + HOME, 'none', `bind,nosuid,nodev${ours}`],
      [workdir, `${root}/workdir`, 'none', `bind,nosuid,nodev${ours}`],
    ];
    return lines.map((words) => `${words.map(escaped).join(' ')} 0 0\n`).join('');
  }
}

/**
 * Whether something is mounted below, as runtimes of containers do with files in `/usr`. A user namespace takes such a folder with what is below it or not
 * at all (mount_namespaces(7)). Asked for each command: a mount that comes later fails it.
 */
function hasMountsBelow({ source }: Mount): boolean {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.some((line) => unescaped(line.split(' ')[4] ?? '').startsWith(`${source}/`));
}

const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

/** fstab(5): white space and the escape sign itself as octal numbers. */
function escaped(word: string): string {
  return word.replace(/[\s\\#]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** util-linux has no program for it; SIOCSIFFLAGS is 0x8914, and perl-base is part of every Debian. */
function loopbackCommand(): string | null {
  const ip = findProgram('ip');
  if (ip !== null) return `${ip} link set lo up </dev/null`;
  const ifconfig = findProgram('ifconfig');
  if (ifconfig !== null) return `${ifconfig} lo up </dev/null`;
  const perl = findProgram('perl');
  const code = 'socket(S,2,2,0); ioctl(S,0x8914,pack("a16s16","lo",0x49))';
  return perl === null ? null : `${perl} -e '${code}' </dev/null`;
}
