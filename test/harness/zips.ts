// Zips as no honest program makes them (APPNOTE.TXT §4.3).
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  content?: string | Buffer;
  /** As a Unix has it, with the type. */
  mode?: number;
  /** Deflate is the default. */
  stored?: boolean;
  /** What the headers say, in place of what is true. */
  size?: number;
  method?: number;
  flags?: number;
}

const UTF8 = 0x800;

/** @param count of entries as the end of the zip says it; without it the true one. */
export function zipOf(entries: readonly ZipEntry[], count = entries.length): Buffer<ArrayBuffer> {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content = '', mode = 0o100644, stored = false, size, method, flags = UTF8 } of entries) {
    const bytes = Buffer.from(content);
    const packed = stored ? bytes : deflateRawSync(bytes);
    const label = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method ?? (stored ? 0 : 8), 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size ?? bytes.length, 18);
    common.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, label, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(mode * 0x10000, 6);
    rest.writeUInt32LE(at, 10);
    // Made on a Unix.
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), common, rest, label);
    files.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, listed, Buffer.from('PK\x05\x06'), end]);
}
