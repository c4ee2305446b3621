// A tar writer (POSIX ustar), so that the demo needs nothing on the host but Node.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK = 512;

/** A folder as `.tar.gz`: every path inside begins with `prefix/`. Regular files only, in a fixed order, without times. */
export function tarGz(folder, prefix) {
  const names = readdirSync(folder, { recursive: true })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
  const parts = names.flatMap((name) => entry(`${prefix}/${name}`, readFileSync(join(folder, name))));
  // Two empty blocks end an archive. The level is fixed and the gzip header carries no time: equal folders, equal bytes.
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function entry(path, content) {
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [header(path, content.length), content, padding];
}

function header(path, size) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path}: at most 100 bytes fit into the name of a tar entry.`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(path, 0);
  block.write(octal(0o644, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  // The checksum counts its own field as eight spaces.
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
