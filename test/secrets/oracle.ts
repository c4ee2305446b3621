// Knows the values, and finds them in bytes: whole ones in 22 forms, and each twelve bytes of one as they are.
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { FORMS } from './forms.js';

/** A piece of a value as it is that has so many bytes counts as the value. */
const PIECE = 12;

export class Oracle {
  private readonly whole: { name: string; bytes: Buffer }[];
  private readonly pieces: { name: string; bytes: Buffer }[];

  /** @param values by the names of their secrets. */
  constructor(readonly values: Record<string, string>) {
    const all = Object.entries(values);
    this.whole = all.flatMap(([name, value]) => FORMS.map((form) => ({ name: `${name}, ${form.name}`, bytes: form.of(value) }))); // prettier-ignore
    this.pieces = all.flatMap(([name, value]) =>
      Array.from({ length: value.length - PIECE + 1 }, (_, at) => ({
        name: `${name}, ${PIECE} bytes from ${at}`,
        bytes: Buffer.from(value.slice(at, at + PIECE)),
      })),
    );
  }

  /** What of the values is in these bytes, in words. */
  find(bytes: Buffer): string[] {
    return [...this.whole, ...this.pieces].filter((one) => bytes.includes(one.bytes)).map(({ name }) => name);
  }

  private wholeIn(bytes: Buffer): string[] {
    return this.whole.filter((one) => bytes.includes(one.bytes)).map(({ name }) => name);
  }

  /** In an answer as it came: also without its chunks, its compression and its line breaks. */
  findInAnswer(bytes: Buffer): string[] {
    // What is so large is a memory, and no answer.
    if (bytes.length > 1 << 20) return this.wholeIn(bytes);
    return [...new Set(viewsOf(bytes).flatMap((view) => this.find(view)))];
  }

  /** Below a folder, in names, links and contents: `path: what`. */
  findBelow(folder: string): string[] {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = this.find(Buffer.from(entry.name));
      if (entry.isDirectory()) return [...name, ...this.findBelow(path)].map((what) => what);
      const content = entry.isSymbolicLink() ? this.find(Buffer.from(readlinkSync(path))) : entry.isFile() ? this.findIn(path) : []; // prettier-ignore
      return [...name, ...content].map((what) => `${path}: ${what}`);
    });
  }

  /** A megabyte at a time: memories are large. Whole values alone. */
  findIn(path: string): string[] {
    const found = new Set<string>();
    const file = openSync(path, 'r');
    const block = Buffer.alloc(1 << 20);
    const lap = 1 << 10;
    try {
      for (let at = 0, read = block.length; read === block.length; at += block.length - lap) {
        read = readSync(file, block, 0, block.length, at);
        for (const name of this.wholeIn(block.subarray(0, read))) found.add(name);
      }
    } finally {
      closeSync(file);
    }
    return [...found];
  }

  /** In the arguments and the variables of all processes of this machine, as far as they can be read. */
  findInProcesses(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) =>
        ['cmdline', 'environ'].flatMap((file) => {
          try {
            return this.findIn(`/proc/${pid}/${file}`).map((what) => `${pid} ${file}: ${what}`);
          } catch {
            return [];
          }
        }),
      );
  }
}

/** The bytes, and what they mean as an answer of HTTP. */
export function viewsOf(bytes: Buffer): Buffer[] {
  const lines = /\r\n[0-9a-f]{1,6}(;[^\r\n]*)?\r\n/gi;
  const text = bytes.toString('latin1').replace(/\r\n\r\n[0-9a-f]{1,6}(;[^\r\n]*)?\r\n/gi, '\r\n\r\n');
  const joined = Buffer.from(text.replace(lines, ''), 'latin1');
  // Behind each head: that of the proxy, hints, the answer.
  const bodies = [bytes, joined].flatMap((all) =>
    [...all.toString('latin1').matchAll(/\r\n\r\n/g)]
      .slice(0, 4)
      // Behind the last chunk stand two bytes more, which gzip(1) takes amiss.
      .flatMap(({ index }) => [all.subarray(index + 4), all.subarray(index + 4, -2)]),
  );
  const once = bodies.flatMap(decoded);
  const all = [bytes, joined, ...once, ...once.flatMap(decoded)];
  return all.flatMap((view) => [view, Buffer.from(view.toString('latin1').replace(/\s+/g, ''), 'latin1')]);
}

function decoded(bytes: Buffer): Buffer[] {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  return [
    () => gunzipSync(bytes, { finishFlush: Z_SYNC_FLUSH }),
    () => inflateSync(bytes, { finishFlush: Z_SYNC_FLUSH }),
    () => brotliDecompressSync(bytes, { finishFlush: BROTLI_OPERATION_FLUSH }),
  ].flatMap((decode) => {
    try {
      return [decode()];
    } catch {
      return [];
    }
  });
}
