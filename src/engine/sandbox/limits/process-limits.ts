// Limits that the kernel holds for each process of a command (setrlimit(2)).
import { availableParallelism } from 'node:os';
import { descriptorLimit } from '../../../platform/config/descriptors.js';
import { ConfigurationError } from '../../../platform/config/env.js';
import { needProgram } from '../host.js';
import type { SandboxLimits } from '../sandbox.js';

/** Files that each process of a command may have open. No process may have more than the one that starts it. */
const OPEN_FILES = 4096;

/**
 * The beginning of a command line whose processes have these limits (prlimit(1)), `memoryBytes` of Infinity none. `fileBytes`: of each file. `mark`: by which they are known
 * (`launch/leftovers.ts`).
 */
export function prlimit(limits: SandboxLimits, fileBytes: number, mark?: number): string[] {
  const { memoryBytes, processes, wallClockSeconds } = limits;
  return [
    needProgram('prlimit', 'util-linux'),
    `--nproc=${processes}`,
    // Not the address space: V8 and WebAssembly reserve far more of it than they use.
    ...(memoryBytes === Infinity ? [] : [`--data=${memoryBytes}`]),
    `--fsize=${fileBytes}`,
    `--nofile=${OPEN_FILES}`,
    '--core=0',
    ...(mark === undefined ? [] : [...cpu(wallClockSeconds), `--rttime=${mark}`]),
    '--',
  ];
}

/** Per process, and only for the case that nothing else ends it. */
function cpu(seconds: number): string[] {
  return seconds === Infinity ? [] : [`--cpu=${seconds * availableParallelism()}`];
}

/** Throws {@link ConfigurationError}: no driver can do without, so that the advice about sandboxes would mislead. */
export function needOpenFiles(): void {
  const limit = descriptorLimit();
  if (limit >= OPEN_FILES) return;
  throw new ConfigurationError(
    `nofile: a hard limit of at least ${OPEN_FILES} is expected where tasks run. The system lets this process open ${limit} files ` +
      `(the hard limit of nofile), and each process of a command may open ${OPEN_FILES}. Raise nofile (ulimit -Hn, LimitNOFILE=, --ulimit nofile=).`,
  );
}

/** Options of setpriv(1): the user that a command runs as, without any privilege. */
export function dropTo(uid: number): string[] {
  const id = String(uid);
  const ids = ['--reuid', id, '--regid', id, '--clear-groups'];
  return [...ids, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
}
