// What is Node's alone: files by their paths.
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A file of this machine, for `uploads.create`; its name is the last segment of the path. */
export async function fileFrom(path: string): Promise<File> {
  return new File([await readFile(path)], basename(path));
}

/** Writes what `files.content` gives to a file that does not exist yet, or over one with `flags: 'w'`. */
export async function saveTo(path: string, response: Response, flags: 'wx' | 'w' = 'wx'): Promise<void> {
  if (response.body === null) throw new Error('The answer has no body.');
  const body = Readable.fromWeb(response.body);
  await pipeline(body, createWriteStream(path, { flags }));
}
