import { Plugin } from '../../../platform/plugins/plugin.js';
import { needProgram, run } from '../host.js';
import { mountsOf } from '../network/inside.js';
import type { LaunchSpec, Prepared } from './launch-spec.js';
import { LocalSandbox } from './local-sandbox.js';
import { SHARED_MEMORY_PART } from '../limits/memory-report.js';
import { EMPTY, HIDDEN, HOME, PIPES, sharedMounts } from './root-folder.js';
import { Sandbox, type SandboxReport } from '../sandbox.js';
import { seccompFilter, seccompReport } from './seccomp.js';

const FLAGS =
  '--unshare-user --unshare-all --disable-userns --die-with-parent --new-session --as-pid-1 --cap-drop ALL ' +
  '--uid 1000 --gid 1000 --clearenv --json-status-fd 4';

/** bubblewrap (`bwrap`). */
@Plugin(Sandbox, 'bubblewrap')
export class BubblewrapSandbox extends LocalSandbox {
  private bwrap = '';
  private version = '';
  private readonly filter = seccompFilter();

  protected async prepare(): Promise<void> {
    this.bwrap = needProgram('bwrap', 'bubblewrap');
    const { stdout } = await run(this.bwrap, ['--version'], { env: {} });
    this.version = stdout.trim().split(' ').at(-1) ?? '';
  }

  protected override file(): Buffer {
    return this.filter ?? Buffer.alloc(0);
  }

  protected command(spec: LaunchSpec, { root }: Prepared): string[] {
    const { workdir, tmp, home } = spec.folders;
    const size = String(Math.round(spec.limits.memoryBytes * SHARED_MEMORY_PART));
    const mounts = [...root.mounts, ...spec.tools].flatMap(({ source, target }) => ['--ro-bind', source, target]);
    const shared = sharedMounts(spec.shared).flatMap((mount) => ['--ro-bind', ...mount]);
    const wayOut = mountsOf(spec.wayOut).flatMap(([path, target]) => ['--ro-bind', path, target]);
    return [
      this.bwrap,
      ...FLAGS.split(' '),
      ...(this.filter === null ? [] : ['--seccomp', '6']),
      ...['--ro-bind', root.path, '/', ...mounts, '--dev', '/dev'],
      ...['--perms', '1777', '--size', size, '--tmpfs', '/dev/shm'],
      ...shared,
      ...wayOut,
      ...['--ro-bind', spec.pipes, PIPES],
      ...['--remount-ro', '/dev', '--proc', '/proc'],
      ...HIDDEN.flatMap((path) => ['--ro-bind', root.path + EMPTY, path]),
      // Nothing in /proc is for a command to write; else an ordinary user's one could lower its oom_score_adj.
      ...['--remount-ro', '/proc'],
      // The last ones, and nothing below them: bubblewrap before 0.12 follows links there (CVE-2026-87766).
      ...['--bind', tmp, '/tmp', '--bind', home, HOME, '--bind', workdir, '/workdir', '--'],
      ...spec.init,
    ];
  }

  protected report(probed: Map<string, string>): SandboxReport {
    const active = [
      `bubblewrap ${this.version}: own user, mount, process, network, IPC, host-name and control-group namespaces.`,
      'No capabilities, no nested namespaces.',
    ];
    const missing: string[] = [];
    const seccomp = seccompReport(this.filter !== null, probed.get('seccomp'));
    active.push(...seccomp.active);
    missing.push(...seccomp.missing);
    if (older(this.version, [0, 12])) {
      missing.push(
        `bubblewrap ${this.version} is older than 0.12 (CVE-2026-87766; we mount nothing below what a task can write to).`,
      );
    }
    return { driver: 'bubblewrap', active, missing };
  }
}

function older(version: string, [major, minor]: [number, number]): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a < major || (a === major && b < minor);
}
