import { createHash } from 'node:crypto';

export interface WorkdirEntry {
  /** As git has it: `100644`, `100755` for what may be executed, `120000` for a link. */
  mode: string;
  /** From the workdir, with `/`; each byte of it as a character of Latin-1. */
  path: string;
  /** Of the content, of a link of its target; in hexadecimal. */
  sha256: string;
}

/**
 * The subject `workdir` of a proof: SHA-256 of a line `MODE SHA256 PATH` for each entry, sorted by the bytes of the path, each ended by a
 * zero byte, which no path has.
 */
export function workdirDigest(entries: readonly WorkdirEntry[]): string {
  const all = createHash('sha256');
  const sorted = entries.map((entry) => ({ ...entry, bytes: Buffer.from(entry.path, 'latin1') }));
  sorted.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  for (const { mode, sha256, bytes } of sorted) all.update(`${mode} ${sha256} `).update(bytes).update('\0');
  return all.digest('hex');
}
