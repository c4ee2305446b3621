// A sandbox for a trial, of the driver that tasks would have here.
import { randomUUID } from 'node:crypto';
import { AUTOMATIC } from '../../engine/sandbox/sandbox-selector.js';
import type { SandboxOpenOptions, SandboxSession } from '../../engine/sandbox/sandbox.js';
import type { Env } from '../../platform/config/env.js';
import { BUILT_IN, builtIn, remove, trialFolder } from './sandboxes.check.js';

export interface TrialSandbox {
  session: SandboxSession;
  /** Takes away all that was made. */
  close: () => Promise<void>;
}

/** @param dataDir null: it lies in the folder for temporary files. */
export async function openTrial(
  env: Env,
  dataDir: string | null,
  options: Pick<SandboxOpenOptions, 'signal' | 'network' | 'door'>,
): Promise<TrialSandbox> {
  const { SANDBOX } = env.variables;
  const names = SANDBOX === 'auto' || !(SANDBOX in BUILT_IN) ? AUTOMATIC : [SANDBOX];
  const folder = trialFolder(dataDir);
  let failed: unknown;
  for (const name of names) {
    const sandbox = builtIn(name, env, folder);
    const taskId = randomUUID();
    try {
      await sandbox.check();
      const session = await sandbox.open({ taskId, ...options });
      const close = async () => {
        await session.close();
        await sandbox.remove(taskId);
        await sandbox.onApplicationShutdown();
        remove(folder);
      };
      return { session, close };
    } catch (error) {
      failed = error;
      await sandbox.onApplicationShutdown();
    }
  }
  remove(folder);
  throw failed;
}
