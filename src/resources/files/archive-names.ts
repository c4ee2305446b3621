// Names of files in an archive, which somebody unpacks on a system that we do not know.
import { cleanName, freeName } from './file-name.js';

/** What Windows takes in no name (`CreateFile`, "Naming Files, Paths, and Namespaces"). Slashes part the segments of a path. */
const RESERVED = /[<>:"|?*]/g;
/** Its devices, which no folder and no extension makes into files. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)/i;

/** A name that is one file in the folder where it is unpacked, on every usual system. */
export function harmless(name: string): string {
  const plain = cleanName(name.replace(RESERVED, '_')).replace(/[. ]+$/, '');
  if (plain === '') return 'file';
  return DEVICE.test(plain) ? cleanName(`_${plain}`) : plain;
}

/** The names in one folder. Those that differ only by case, or by how an accent is written, are one name on some systems. */
export class ArchiveNames {
  private readonly taken = new Set<string>();
  /** Where to look for a free number of a name: each number is looked at once. */
  private readonly next = new Map<string, number>();

  /** @param reserved names of folders beside the files. */
  constructor(...reserved: string[]) {
    for (const name of reserved) this.taken.add(folded(name));
  }

  /** {@link harmless}, and no other's. */
  add(given: string): string {
    const name = harmless(given);
    const key = folded(name);
    const from = Math.max(this.next.get(key) ?? 1, 2);
    let tried = 0;
    const free = freeName(name, { has: (one) => this.taken.has(folded(one)) && ++tried > 0 }, from);
    this.next.set(key, tried === 0 ? 2 : from + tried);
    this.taken.add(folded(free));
    return free;
  }
}

const folded = (name: string): string => name.normalize('NFC').toLowerCase();
