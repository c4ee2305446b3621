import type { SandboxSession } from '../../sandbox/sandbox.js';

/** Below the 64 KiB that the sandbox keeps whole, so that no line is lost in the middle. */
const OUTPUT_BYTES = 60_000;

/**
 * Runs a search in the sandbox and returns its first lines. A search without matches is an empty list; one that cannot be
 * made throws with what `rg` says.
 */
export async function ripgrep(
  session: SandboxSession,
  command: string,
  maxLines: number,
): Promise<{ lines: string[]; cut: boolean }> {
  // The pipe would hide the exit code, so it comes on standard error; a plain `sh` has no pipefail.
  const script = `{ ${command}; echo "exit:$?" >&2; } | head -n ${maxLines} | head -c ${OUTPUT_BYTES}`;
  const { stdout, stderr, killed } = await session.run(script);
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
  const cut = Buffer.byteLength(stdout) >= OUTPUT_BYTES;
  const lines = stdout.split('\n');
  // After a cut the last line is a part of one.
  lines.pop();
  return { lines, cut };
}
