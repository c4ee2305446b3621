// What a driver of this host is given: what is ready after boot, and one launch.
import type { Authorities } from '../../../platform/config/authorities.js';
import type { BoxResources } from '../launch/box.js';
import type { ControlGroups } from '../limits/control-groups.js';
import type { WayFiles } from '../network/inside.js';
import type { SandboxLimits } from '../sandbox.js';
import type { Shared, SharedFolders } from '../workdir/shared-folders.js';
import type { TaskFolders, Workdirs } from '../workdir/workdirs.js';
import type { Mount } from './programs.js';
import type { RootFolder } from './root-folder.js';
import type { ToolsFound } from './tools.js';

/** What is ready after boot. */
export interface Prepared {
  base: string;
  root: RootFolder;
  /** What programs inside trust. */
  authorities: Authorities;
  workdirs: Workdirs;
  shared: SharedFolders;
  /** Or why there are none; null: not looked for. */
  groups: ControlGroups | string | null;
  /** What environments may have, and what of it is not there. */
  tools: ToolsFound;
  resources: Omit<BoxResources, 'heartbeat'>;
}

/**
 * What each process of a program may have of the memory of its box. Where a group bounds all of them together, none has a limit: some programs, as
 * those of Bun, map far more than they use, and break at a limit that they do not come near.
 */
export function ofEachProcess(memoryBytes: number, { resources: { groups } }: Prepared): number {
  return groups === null ? memoryBytes : Infinity;
}

/** One box as the driver sees it. */
export interface LaunchSpec {
  folders: TaskFolders;
  /** What is mounted read-only at `/project` and `/skills`, outside of the workdir. */
  shared: Shared;
  limits: SandboxLimits;
  /** The folder of its pipes, which is mounted read-only. */
  pipes: string;
  /** What is mounted beside what all have, read-only. */
  tools: Mount[];
  /** What is mounted of the way out: its socket, and what is trusted with it; null: there is none. */
  wayOut: WayFiles | null;
  /** The program that is started first inside, and its arguments. */
  init: string[];
}
