// The configuration under attack, and the sum of what it allows: docs/operating.md, "Walls", says the same in words.
import { type ConfigFile, configFileSchema } from '../../src/platform/config/config-file.js';
import { mergedPlans } from '../../src/platform/config/plans.js';
import { LONG } from '../harness/numbers.js';
import type { Usage } from './usage.js';

export const MIB = 1024 * 1024;

/** What a tenant may have, in bytes and numbers. The attacks size themselves by it. */
export interface Limits {
  memoryBytes: number;
  diskBytes: number;
  processes: number;
  outputBytes: number;
  uploadBytes: number;
  /** Tasks of one workspace at once. */
  runningTasks: number;
  /** Runs at once in all workers. */
  places: number;
  /** That a process of the service may open. */
  descriptors: number;
  /** Stored bytes of one workspace. */
  storageBytes: number;
  /** With which an attack on processors begins, at most `runningTasks`. */
  tasks: number;
}

export const LIMITS: Limits = {
  memoryBytes: 128 * MIB,
  diskBytes: 50 * MIB,
  processes: 64,
  outputBytes: 2 * MIB,
  uploadBytes: 16 * MIB,
  runningTasks: mergedPlans().paid.runningTasks,
  places: 16,
  descriptors: 1024,
  storageBytes: 256 * MIB,
  tasks: LONG ? mergedPlans().paid.runningTasks : 4,
};

const { memoryBytes, diskBytes, processes, outputBytes, storageBytes } = LIMITS;
const given = {
  models: [{ id: 'runbook', provider: 'runbook' }],
  sandbox: { memoryBytes, diskBytes, processes, outputBytes, wallClockSeconds: 20 },
  plans: { paid: 'storageBytes' in mergedPlans().paid ? { storageBytes } : {} },
};

/** `CONFIG_FILE` of the processes under attack. Everything else is as it comes. */
export const CONFIG: ConfigFile = configFileSchema().parse(given);

/** Of a process that has just booted and served a little: V8, the libraries, its pools. */
const RESTING_BYTES = 260 * MIB;
/** So many copies of a body are alive at once: its pieces, the whole of them, the text, and what is parsed of it. */
const COPIES = 6;

/**
 * The most that one attacking tenant and a small one may make of it.
 * @param processesOfService how many there are
 * @param groups whether control groups bound a sandbox as a whole; else memory is bounded for each of its processes
 */
export function boundsOf(processesOfService: number, groups: boolean): Usage {
  const { places, uploadBytes, descriptors, runningTasks } = LIMITS;
  const connections = descriptors - 256;
  return {
    service: processesOfService * RESTING_BYTES + connections * 0.25 * MIB + places * (COPIES * MIB + 2 * outputBytes),
    sandboxes: runningTasks * memoryBytes * (groups ? 1 : processes),
    disk: 2 * storageBytes + runningTasks * diskBytes + uploadBytes,
    descriptors,
  };
}
