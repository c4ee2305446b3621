// What a host says of a value that it was given.
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** @param kind the form: a coding, one byte at a time, Base64, or in the head. */
export function echo(said: string, kind: string, response: ServerResponse): void {
  if (kind === 'gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(said));
  else if (kind === 'br') response.setHeader('content-encoding', 'br').end(brotliCompressSync(said));
  else if (kind === 'twice') response.setHeader('content-encoding', 'gzip, br').end(brotliCompressSync(gzipSync(said)));
  else if (kind === 'zstd') response.setHeader('content-encoding', 'zstd').end(said);
  else if (kind === 'lying') response.setHeader('content-encoding', 'gzip').end(said);
  // Not Content-Encoding: what is between two neighbours.
  else if (kind === 'transfer') response.setHeader('transfer-encoding', 'gzip, chunked').end(gzipSync(said));
  else if (kind === 'bytes') bytewise(said, response);
  else if (kind === 'headers')
    response.writeHead(302, `Moved for ${said}`, { Location: `/?t=${said}`, 'Set-Cookie': [`a=${said}`, 'b=c'] }).end();
  else if (kind === 'base64') response.end(Buffer.from(`me:${said}\n`).toString('base64'));
  else response.end(said);
}
function bytewise(text: string, response: ServerResponse, at = 0): void {
  if (at === text.length) return void response.end();
  response.write(text[at] ?? '', () => bytewise(text, response, at + 1));
}
