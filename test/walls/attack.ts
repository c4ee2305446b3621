import type { Limits } from './bounds.js';
import type { TenantA } from './tenant-a.js';

/** One way to attack. */
export interface Attack {
  name: string;
  /** What it does, in one sentence. */
  what: string;
  /** A few seconds of it. The long form sends wave after wave. */
  wave: (a: TenantA, limits: Limits) => Promise<void>;
}
