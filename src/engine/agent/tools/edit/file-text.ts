import type { OpenedFile } from '../../../sandbox/sandbox.js';

/** A file of this size is read up to six times, in slices of the main thread. */
export const FILE_BYTES = 1024 * 1024;

/** The text of a file for a change of it. Throws an `Error` for the model when it is too large or no UTF-8. */
export async function textOf({ size: known, content }: OpenedFile, path: string): Promise<string> {
  if (known > FILE_BYTES) {
    content.destroy();
    throw new Error(`${path} has ${known} bytes, more than ${FILE_BYTES}: change it with bash (sed, a script).`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += (chunk as Buffer).length;
    if (size > FILE_BYTES) throw new Error(`${path} grew while it was read.`);
    chunks.push(chunk as Buffer);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Error(`${path} is not UTF-8 text: change it with bash.`);
  }
}
