import type { ConversationMessage } from '../models/conversation.js';
import { SandboxError, type SandboxSession } from '../sandbox/sandbox.js';
import { forget, mayCircle } from './repetition.js';

const SECONDS = 10;
/** Without what the service writes there itself (`outputFile`). Nothing is sorted: folders that stay as they are are read in one order. */
const SCRIPT = `find . "\${HOME:-.}" "\${TMPDIR:-/tmp}" -xdev -path "\${TMPDIR:-/tmp}/output" -prune -o -printf '%C@ %s %p\\n' 2>/dev/null | cksum`;

/** Notes in the last result of a conversation what the folders are like now, where that says whether the model goes in circles. */
export async function markFolders(
  conversation: readonly ConversationMessage[],
  sandbox: { get(): Promise<SandboxSession> },
): Promise<void> {
  const step = conversation.at(-1);
  const result = step?.invocations.at(-1)?.result;
  if (step === undefined || result == null || result.status === 'denied' || !mayCircle(conversation)) return;
  const workdir = await folderMark(sandbox);
  if (workdir === null) return;
  result.forModel = { ...result.forModel, workdir };
  forget(step);
}

/**
 * Names the state of the task's folders: another one when a file was made, changed or removed. A command cannot set the time that
 * counts (ctime). Null when it cannot be computed, or not in ten seconds.
 */
async function folderMark(sandbox: { get(): Promise<SandboxSession> }): Promise<string | null> {
  try {
    const session = await sandbox.get();
    const { exitCode, stdout } = await session.run(SCRIPT, { timeoutSeconds: SECONDS });
    return exitCode === 0 ? stdout.trim() : null;
  } catch (error) {
    // Nothing depends on it: the next call that needs the sandbox fails.
    if (error instanceof SandboxError) return null;
    throw error;
  }
}
