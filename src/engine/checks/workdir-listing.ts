import { createHash } from 'node:crypto';
import type { SandboxSession } from '../sandbox/sandbox.js';
import { printedBytes } from './byte-paths.js';
import { CheckError } from './check.js';
import type { WorkdirEntry } from './workdir-digest.js';

/** Opens closed folders, for a check sees what is in them (put-back.sh). Then the links with their targets, an empty name, then the files with their modes, an empty name, then their hashes. */
const LISTING = `find . -type d ! -perm -700 -exec chmod u+rwx {} \\;
find . -mindepth 1 -type l -printf '%P\\0%l\\0'; printf '\\0'
find . -mindepth 1 -type f -printf '%m\\0%P\\0'; printf '\\0'
find . -mindepth 1 -type f -print0 | xargs -0 -r sha256sum -bz --`;

/** What lies in the folder of a check: files and links, as git would list them. */
export async function listingOf(session: SandboxSession): Promise<WorkdirEntry[]> {
  const printed = printedBytes();
  const { exitCode } = await session.run(LISTING, printed.how);
  if (exitCode !== 0) throw new CheckError('The files of the workdir could not be listed.');
  const [links = [], files = [], hashes = []] = sections(printed.bytes());
  const known = new Map(hashes.map((line) => [line.slice(66 + 2), line.slice(0, 64)]));
  return [
    ...pairs(links).map(([path, target]) => ({ mode: '120000', path, sha256: sha256(target) })),
    ...pairs(files).map(([mode, path]) => ({
      mode: (Number.parseInt(mode, 8) & 0o111) === 0 ? '100644' : '100755',
      path,
      sha256: known.get(path) ?? sha256(''),
    })),
  ];
}

/** Names of any bytes: read as Latin-1 they stay what they are. */
function sections(bytes: Buffer): string[][] {
  const all: string[][] = [[]];
  for (const name of bytes.toString('latin1').split('\0')) {
    if (name === '' && all.length < 3) all.push([]);
    else if (name !== '') all.at(-1)?.push(name);
  }
  return all;
}

function pairs(names: string[]): [string, string][] {
  return Array.from({ length: Math.floor(names.length / 2) }, (_, at) => [
    names[2 * at] ?? '',
    names[2 * at + 1] ?? '',
  ]);
}

function sha256(latin1: string): string {
  return createHash('sha256').update(Buffer.from(latin1, 'latin1')).digest('hex');
}
