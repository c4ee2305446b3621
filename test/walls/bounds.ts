// The configuration under attack, and the sum of what it allows: docs/operating.md, "Walls", says the same in words.
import { type ConfigFile, configFileSchema } from '../../src/platform/config/config-file.js';
import { mergedPlans } from '../../src/platform/config/plans.js';
import { LONG } from '../harness/numbers.js';
import { AUTOMATIONS } from './planned.js';
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
  /** That the attack opens from one address. */
  connections: number;
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
  connections: LONG ? 4_400 : 1_200,
  storageBytes: 256 * MIB,
  tasks: LONG ? mergedPlans().paid.runningTasks : 4,
};

const { memoryBytes, diskBytes, processes, outputBytes, storageBytes } = LIMITS;
const given = {
  models: [{ id: 'runbook', provider: 'runbook' }],
  sandbox: { memoryBytes, diskBytes, processes, outputBytes, wallClockSeconds: 20 },
  plans: { paid: { storageBytes, activeAutomations: AUTOMATIONS } },
};

/** `CONFIG_FILE` of the processes under attack. Everything else is as it comes. */
export const CONFIG: ConfigFile = configFileSchema().parse(given);

/** Of a process that has just booted and served a little: V8, the libraries, its pools. */
const RESTING_BYTES = 260 * MIB;
/** So many copies of a body are alive at once: its pieces, the whole of them, the text, and what is parsed of it. */
const COPIES = 6;
/** The bodies of deliveries in an API, and what the thread that reads two of them, of 25 MiB each, takes meanwhile. */
const HOOK_BYTES = 64 * MIB + 200 * MIB;
/** Descriptors that a process has for itself: DATABASE_URL, Redis, pipes of sandboxes, what it serves. */
const OWN_DESCRIPTORS = 256;
/** What one connection may hold that nobody reads from: buffers of a stream and of the socket. */
const CONNECTION_BYTES = 0.25 * MIB;
/** What a command adds to its workdir between two looks at it. The attacks write 40 MiB in a third of a second, no more. */
const BETWEEN_LOOKS = 2 * LIMITS.diskBytes;

/**
 * The most that the attacks of one tenant may make of it. What is stored is compared when the attack is over.
 * @param processes of the service
 * @param tasks that the attacks have created
 * @param workspaces that attack
 * @param addresses from which they do: each may have half of the connections
 * @param groups whether control groups bound the memory of a sandbox as a whole; else each of its processes has the limit
 */
export function boundsOf({ processes, tasks, workspaces, addresses, groups }: Circumstances): Usage {
  const { places, uploadBytes, descriptors, runningTasks, memoryBytes, diskBytes, storageBytes, outputBytes } = LIMITS;
  const connections = ((descriptors - OWN_DESCRIPTORS) / 2) * Math.min(2, addresses);
  const running = Math.min(tasks, places, workspaces * runningTasks);
  const one = groups ? memoryBytes : (LIMITS.processes + 0.25) * memoryBytes;
  return {
    service:
      processes * RESTING_BYTES +
      connections * CONNECTION_BYTES +
      places * (COPIES * MIB + 2 * outputBytes) +
      uploadBytes +
      HOOK_BYTES,
    // Beside them the small parents of the other tenant's commands, and of those that begin and end.
    sandboxes: running * one + 64 * MIB,
    stored: workspaces * storageBytes + MIB,
    workdirs: Math.min(tasks * diskBytes, workspaces * storageBytes) + running * BETWEEN_LOOKS + MIB,
    descriptors: connections + OWN_DESCRIPTORS,
  };
}

export interface Circumstances {
  processes: number;
  tasks: number;
  workspaces: number;
  addresses: number;
  groups: boolean;
}
