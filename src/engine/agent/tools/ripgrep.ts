import { MOST_CHARACTERS } from '../../models/result-text.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';

/** For the sentence that says that there is more. */
const NOTE = 100;
/**
 * KiB of memory that a search may hold: eight run side by side, together as much as a command may hold by default. A search needs some
 * megabytes, and of a line that is longer all of it. Where a command may hold less, that stays.
 */
const MEMORY = 256 * 1024;
/** Files of /proc need not end. */
const SECONDS = 60;

/**
 * Runs a search in the sandbox and returns its first lines. A search without matches is an empty list; one that cannot be
 * made throws with what `rg` says. `characters`: what the model reads of a result; far below what the sandbox keeps whole.
 */
export async function ripgrep(
  session: SandboxSession,
  command: string,
  maxLines: number,
  characters = MOST_CHARACTERS,
): Promise<{ lines: string[]; truncated: boolean }> {
  // The pipe would hide the exit code, so it comes on standard error; a plain `sh` has no pipefail.
  const bytes = characters - NOTE;
  const script = `ulimit -d ${MEMORY} 2>/dev/null; { ${command}; echo "exit:$?" >&2; } | head -n ${maxLines} | head -c ${bytes}`;
  const { stdout, stderr, killed } = await session.run(script, { timeoutSeconds: SECONDS });
  if (killed === 'memory') throw new Error('The search held too much memory: use a narrower path.');
  if (killed !== null) throw new Error('The search took too long: use a narrower path or pattern.');
  const exitCode = Number(/exit:(\d+)\s*$/.exec(stderr)?.[1] ?? 0);
  // 1 is "nothing found"; 2 also stands for files that could not be read beside others that could.
  if (stdout === '' && exitCode > 1)
    throw new Error(
      `The search failed: ${stderr
        .replace(/exit:\d+\s*$/, '')
        .trim()
        .slice(0, 2_000)}`,
    );
  const truncated = Buffer.byteLength(stdout) >= bytes;
  const lines = stdout.split('\n');
  // The last line may be truncated.
  lines.pop();
  return { lines, truncated };
}
