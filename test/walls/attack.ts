import type { Limits } from './bounds.js';
import type { TenantA } from './tenant-a.js';

/** One way to attack. */
export interface Attack {
  name: string;
  /** What it does, in one sentence. */
  what: string;
  /** Further keys of its workspace, each with limits of its own. */
  keys?: number;
  /** Tasks that are over, in its workspace from the beginning. */
  tasks?: number;
  /** The long form alone has it: another attack of the short one goes the same way. */
  longAlone?: true;
  /** A few seconds of it. The long form sends wave after wave. */
  wave: (a: TenantA, limits: Limits) => Promise<void>;
}
