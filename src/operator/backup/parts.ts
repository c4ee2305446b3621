// The files of a backup: written once, closed to others, on the disk for certain, and known by their SHA-256.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../../access/auth/operator-error.js';

/** A file of the backup. */
export interface Part {
  /** Path in the folder of the backup. */
  file: string;
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

/** 100 MB of rows of text shrink to 35 MB at 1; zlib's own level of 6 takes half as long again for 1 % less. */
const LEVEL = 1;

/** Writes what `source` gives, as it is. */
export async function writeBytes(folder: string, file: string, source: Readable): Promise<Part> {
  return write(folder, file, (to) => pipeline(source, ...to));
}

/** Writes what `source` gives, compressed. */
export async function writePacked(folder: string, file: string, source: Readable): Promise<Part> {
  return write(folder, file, (to) => pipeline(source, createGzip({ level: LEVEL }), ...to));
}

/** Hands the compressed content of a part to `target`, and ends it. */
export async function readPacked(folder: string, { file }: Part, target: Writable): Promise<void> {
  await pipeline(createReadStream(join(folder, file)), createGunzip(), target);
}

/** The lines of a compressed part. */
export async function* linesOf(folder: string, { file }: Part): AsyncGenerator<string> {
  const content = createGunzip();
  const read = pipeline(createReadStream(join(folder, file)), content);
  read.catch(() => undefined);
  yield* createInterface({ input: content, crlfDelay: Infinity });
  await read;
}

/** Reads the whole part. Throws {@link OperatorError} when it is not what was written. */
export async function checkPart(folder: string, { file, bytes, sha256 }: Part): Promise<void> {
  const meter = new Meter();
  try {
    await pipeline(createReadStream(join(folder, file)), meter.passing(), async function (source) {
      for await (const _chunk of source) continue;
    });
  } catch (error) {
    throw new OperatorError(`The backup is not whole: ${file} cannot be read (${(error as Error).message}).`);
  }
  if (meter.bytes !== bytes) {
    throw new OperatorError(`The backup is not whole: ${file} has ${meter.bytes} bytes where ${bytes} were written.`);
  }
  if (meter.sha256 !== sha256) {
    throw new OperatorError(`The backup is damaged: ${file} is not what was written (its SHA-256 differs).`);
  }
}

async function write(folder: string, file: string, into: (to: [Transform, Writable]) => Promise<void>): Promise<Part> {
  const path = join(folder, file);
  // At once: of a program that ends before anybody reads its output Node throws that output away.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const meter = new Meter();
  // `flush`: what is closed survives a power failure.
  await into([meter.passing(), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })]);
  return { file, bytes: meter.bytes, sha256: meter.sha256 };
}

/** Counts and hashes what passes. */
class Meter {
  bytes = 0;
  private readonly hash: Hash = createHash('sha256');
  private digest: string | undefined;

  get sha256(): string {
    return (this.digest ??= this.hash.digest('hex'));
  }

  passing(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.bytes += chunk.length;
        this.hash.update(chunk);
        done(null, chunk);
      },
    });
  }
}

/** Bytes for people: `1.5 GB`. */
export function inBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${step === 0 ? bytes : (bytes / 1000 ** step).toFixed(1)} ${units[step] ?? ''}`;
}
