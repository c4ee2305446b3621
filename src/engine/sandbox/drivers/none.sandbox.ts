import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type LaunchResources, MARK } from '../launch/command.js';
import type { LaunchSpec, Prepared } from './launch-spec.js';
import { LocalSandbox } from './local-sandbox.js';
import { COMMAND_VARIABLES } from './root-folder.js';
import { Sandbox, type SandboxReport } from '../sandbox.js';
import type { Tool } from './tools.js';
import type { TaskFolders } from '../workdir/workdirs.js';

/** No sandbox: plain processes of the host, with limits, an empty environment and an end. Only by explicit choice. */
@Plugin(Sandbox, 'none')
export class NoSandbox extends LocalSandbox {
  protected override readonly guards = false;

  protected async prepare(): Promise<void> {}

  protected override inside(folders: TaskFolders): TaskFolders {
    return folders;
  }

  protected override environment(
    { root }: Prepared,
    { tmp, home }: TaskFolders,
    project: string | null,
  ): Record<string, string> {
    const programs = root.mounts.map(({ source }) => source).filter((source) => /\/(node|rg)$/.test(source));
    const path = [...programs.map((source) => dirname(source)), root.searchPath].join(':');
    // Nothing can be mounted over a path of the host: a variable names the folder.
    const found = project === null ? {} : { PROJECT_DIR: project };
    return { PATH: path, HOME: home, TMPDIR: tmp, ...COMMAND_VARIABLES, ...found };
  }

  /** Nothing can be mounted here. */
  protected override toolFolder({ folder }: Tool): string {
    return folder;
  }

  protected command(spec: LaunchSpec): string[] {
    return ['/bin/sh', '-c', 'echo "pid $$" >&4; exec "$@"', 'none', ...spec.init];
  }

  protected report(): SandboxReport {
    return {
      driver: 'none',
      active: ['Limits of time, memory, processes, disk and output; an empty environment.'],
      missing: [
        'NOTHING keeps a command apart from the host: it reads what its user can read and has the network.',
        'A process that has left its session outlives a worker that is killed.',
      ],
    };
  }

  /** Without a process namespace only the environment, which processes inherit, says which command a process belongs to. */
  protected override sweep(): LaunchResources['sweep'] {
    return async (mark) => {
      while (killMarked(`${MARK}=${mark}`) > 0) await turn();
    };
  }
}

function killMarked(mark: string): number {
  let found = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) continue;
      process.kill(Number(pid), 'SIGKILL');
      found += 1;
    } catch {
      // Gone meanwhile, or somebody else's.
    }
  }
  return found;
}
