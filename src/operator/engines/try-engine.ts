import type { EngineConfig } from '../../platform/config/engines.js';
import type { Env } from '../../platform/config/env.js';
import type { TriedProgram } from '../../engine/engines/acp/trial.js';
import { openTrial, type TrialSandbox } from '../doctor/trial-sandbox.js';

/**
 * Starts an engine of the configuration in a sandbox of a trial, where the door itself answers one prompt. Rejects with a sentence when it does not
 * work, and leaves nothing behind. @param dataDir null: the sandbox lies in the folder for temporary files.
 */
export async function tryEngine(
  env: Env,
  engine: EngineConfig,
  dataDir: string | null,
  signal: AbortSignal,
): Promise<TriedProgram> {
  // Who has no engine does not load it.
  const { tryProgram } = await import('../../engine/engines/acp/trial.js');
  let trial: TrialSandbox | null = null;
  try {
    const open = async (door: NonNullable<Parameters<typeof openTrial>[2]['door']>) => {
      trial = await openTrial(env, dataDir, { signal, door });
      return trial.session;
    };
    return await tryProgram(engine, open, signal);
  } finally {
    await (trial as TrialSandbox | null)?.close();
  }
}
