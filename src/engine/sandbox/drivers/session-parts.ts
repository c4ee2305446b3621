import type { WatchedSpace } from '../../../platform/disk/disk-space.js';
import type { BoxPlace, BoxResources } from '../launch/box.js';
import type { LaunchCommand } from '../launch/launch.js';
import type { WayFiles } from '../network/inside.js';
import type { WayOut } from '../network/network-proxy.js';
import type { NetworkRefusal } from '../network/refusals.js';
import type { SandboxLimits, SandboxSecrets } from '../sandbox.js';
import type { Shared } from '../workdir/shared-folders.js';
import type { UserId } from '../workdir/user-ids.js';
import type { TaskFolders } from '../workdir/workdirs.js';
import type { EntryOptions } from './command-words.js';

/** What a driver gives a session. */
export interface SessionParts {
  /** The task's folders as the host names them, and as they are named inside. */
  folders: TaskFolders;
  inside: TaskFolders;
  /** What it may read and not change; it goes with the session. */
  shared: Shared & { remove: () => Promise<void> };
  user: UserId | null;
  /** Makes the way out to `hosts`, or to the door alone; null: there is none. */
  wayOut:
    ((secrets: SandboxSecrets | undefined, onRefusal: (refusal: NetworkRefusal) => void) => Promise<WayOut>) | null;
  secrets: SandboxSecrets | undefined;
  hosts: readonly string[];
  /** Whether the way out leads to any of them. */
  leads: boolean;
  /** Gives back what the session was opened with; called at its end. */
  release: () => void;
  limits: SandboxLimits;
  space: WatchedSpace;
  /** Deletes what is in them. */
  empty: () => Promise<void>;
  resources: BoxResources;
  shell: string[];
  environment: Record<string, string>;
  /** The folder of programs that a setup may have made ({@link RunOptions.prepared}); null: there is none. */
  ofSetup: string | null;
  /** Of the environment of the task; the others go before them. */
  variables: Readonly<Record<string, string>>;
  /**
   * How a box is made. `wayOut`: what leads out, as the host names it; null: nothing does. `memoryBytes`: of a program, which has a box with
   * memory of its own.
   */
  launch: (wayOut: WayFiles | null, place: BoxPlace, memoryBytes: number | undefined) => LaunchCommand;
  /** What a box is told to start for a command. */
  words: (command: string[], options: EntryOptions) => string[];
  signal: AbortSignal;
}
