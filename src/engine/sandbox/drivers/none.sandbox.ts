import { dirname } from 'node:path';
import { Plugin } from '../../../platform/plugins/plugin.js';
import type { LaunchSpec, Prepared } from './launch-spec.js';
import { LocalSandbox } from './local-sandbox.js';
import { BOX_SCRIPT, COMMAND_VARIABLES } from './root-folder.js';
import { Sandbox, type SandboxReport } from '../sandbox.js';
import type { Tool } from './tools.js';
import type { Shared } from '../workdir/shared-folders.js';
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
    { project, skills }: Shared,
  ): Record<string, string> {
    const programs = root.mounts.map(({ source }) => source).filter((source) => /\/(node|rg)$/.test(source));
    const path = [...programs.map((source) => dirname(source)), root.searchPath].join(':');
    // Nothing can be mounted over a path of the host: variables name the folders.
    const found = {
      ...(project === null ? {} : { PROJECT_DIR: project }),
      ...(skills === null ? {} : { SKILLS_DIR: skills }),
    };
    return { PATH: path, HOME: home, TMPDIR: tmp, ...COMMAND_VARIABLES, ...found };
  }

  protected override boxFolders(pipes: string, { root }: Prepared): { script: string; pipes: string } {
    return { script: root.path + BOX_SCRIPT, pipes };
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
}
