import { canGiveWay } from './give-way.js';
import type { SandboxLimits } from '../sandbox.js';
import type { ControlGroups } from './control-groups.js';

/** `/dev/shm` inside is kept in memory, up to this part of the limit. */
export const SHARED_MEMORY_PART = 1 / 4;

const GIVES_WAY =
  'A command with all its processes gets a third of the processor that the service gets (autogroup), but for sessions that it makes.';

/**
 * How far the limits of memory, processes and processor reach on this machine, one sentence each.
 * @param groups Or why there are none; null: not looked for, and nothing is said of them.
 * @param probed What the trial inside has printed.
 */
export function memoryReport(
  groups: ControlGroups | string | null,
  limits: SandboxLimits,
  probed: Map<string, string>,
): { active: string[]; missing: string[] } {
  const active: string[] = [];
  const missing: string[] = [];
  const each = mib(limits.memoryBytes);
  if (typeof groups === 'string') {
    const folder = mib(limits.memoryBytes * SHARED_MEMORY_PART);
    missing.push(
      `No control groups (${groups}): the memory limit of ${each} holds for each process, not for their sum. ` +
        `One command may hold ${limits.processes} times that and ${folder} in /dev/shm; shared memory ` +
        `(memfd, shared mappings) has no limit but the memory of the machine. All commands of a run together have ${limits.processes} threads.`,
    );
    if (canGiveWay()) active.push(GIVES_WAY);
    else missing.push('Commands get as much of the processor as the service: each of their threads counts alike.');
  } else if (groups !== null) {
    const cpu = groups.cpu ? ' Commands get a third of the processor when the service wants all of it.' : '';
    active.push(
      `Control groups in ${groups.path}: all processes of a command together have at most ${each}, shared memory and ` +
        `/dev/shm included, and at most ${limits.processes} threads; all commands of a run together at most twice that.${cpu}`,
    );
  }
  if (probed.get('oom') === '1000' && probed.get('oomlowered') !== 'yes') {
    active.push('Out of memory, the kernel ends commands first (oom_score_adj 1000).');
  } else {
    missing.push('A command can lower its oom_score_adj: out of memory, the kernel may end the service before it.');
  }
  return { active, missing };
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
