// Writes a zip of a folder: the same bytes for the same files, so that the service sees that nothing has changed (APPNOTE.TXT §4.3).
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { UsageError } from './line.js';

/** What is none of a folder's content. */
const LEFT_OUT = new Set(['.git', '.DS_Store', 'node_modules', '__pycache__']);
/** Beyond it the service refuses the zip. */
const MOST_BYTES = 100 * 1024 * 1024;

const [VERSION, UTF8, DEFLATED, UNIX] = [20, 0x800, 8, 3];
/** 1 January 1980, the first day that a zip knows. */
const DATE = 0x21;
const [FILE, PROGRAM] = [0o100644, 0o100755];

/** Throws {@link UsageError} for what is no folder, and for what is neither a file nor a folder in it. */
export function zipOf(folder: string): Uint8Array<ArrayBuffer> {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let [at, size, count] = [0, 0, 0];
  for (const path of pathsIn(folder, '')) {
    const content = readFileSync(join(folder, path));
    size += content.length;
    if (size > MOST_BYTES) throw new UsageError(`${folder} has too much in it for a skill.`);
    const packed = deflateRawSync(content);
    const name = Buffer.from(path);
    const common = numbers([VERSION, 2], [UTF8, 2], [DEFLATED, 2], [0, 2], [DATE, 2], [crc32(content), 4], [packed.length, 4], [content.length, 4], [name.length, 2], [0, 2]); // prettier-ignore
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed]);
    const mode = (lstatSync(join(folder, path)).mode & 0o100) === 0 ? FILE : PROGRAM;
    const where = numbers([0, 2], [0, 2], [0, 2], [mode * 0x10000, 4], [at, 4]);
    directory.push(Buffer.from('PK\x01\x02'), numbers([VERSION, 1], [UNIX, 1]), common, where, name);
    files.push(local);
    at += local.length;
    count++;
  }
  const listed = Buffer.concat(directory);
  const end = numbers([0, 2], [0, 2], [count, 2], [count, 2], [listed.length, 4], [at, 4], [0, 2]);
  return new Uint8Array(Buffer.concat([...files, listed, Buffer.from('PK\x05\x06'), end]));
}

/** By name. */
function pathsIn(folder: string, below: string): string[] {
  const entries = readdirSync(join(folder, below), { withFileTypes: true }).filter(({ name }) => !LEFT_OUT.has(name));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = below + entry.name;
    if (entry.isDirectory()) return pathsIn(folder, `${path}/`);
    if (!entry.isFile()) throw new UsageError(`${join(folder, path)} is no file: a skill has files and folders alone.`);
    return [path];
  });
}

/** Each with its length in bytes, the lowest byte first. */
function numbers(...all: (readonly [value: number, length: number])[]): Buffer {
  return Buffer.concat(
    all.map(([value, length]) => {
      const bytes = Buffer.alloc(length);
      bytes.writeUIntLE(value, 0, length);
      return bytes;
    }),
  );
}
