// In which part of an answer, and how packed, a host says something.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

type Deliver = (said: Buffer, response: ServerResponse, request: IncomingMessage) => void;
const coded = (coding: string, ...codes: ((bytes: Buffer) => Buffer)[]): Deliver => {
  return (said, response) =>
    response.setHeader('Content-Encoding', coding).end(codes.reduce((bytes, code) => code(bytes), said));
};
/** Heads take no control characters and no end of a line. */
const line = (said: Buffer) => Buffer.from(said.filter((byte) => byte >= 0x20 && byte !== 0x7f)).toString('latin1');
const chunk = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]); // prettier-ignore

/** As bytes on the connection, where Node writes no such answer. */
const raw = (of: (said: Buffer) => (string | Buffer)[]): Deliver => {
  return (said, response) => {
    for (const part of of(said)) response.socket?.write(part);
    response.socket?.end();
  };
};

export const DELIVERIES: Record<string, Deliver> = {
  body: (said, response) => response.end(said),
  gzip: coded('gzip', gzipSync),
  br: coded('br', brotliCompressSync),
  deflate: coded('deflate', deflateSync),
  twice: coded('gzip, br', gzipSync, brotliCompressSync),
  bytes: (said, response) => bytewise(said, response),
  'bytes of gzip': (said, response) => bytewise(gzipSync(said), response.setHeader('Content-Encoding', 'gzip')),
  JSON: (said, response, request) => asJson(response).end(withHead(said, request)),
  'JSON, byte by byte': (said, response, request) => bytewise(withHead(said, request), asJson(response)),
  events: (said, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${said.toString('latin1')}\n\n`, 'latin1'), // prettier-ignore
  error: (said, response) => response.writeHead(500).end(said),
  location: (said, response) => response.writeHead(302, { Location: `/?t=${line(said)}` }).end(),
  cookie: (said, response) => response.setHeader('Set-Cookie', [`a=${line(said)}`, 'b=c']).end(),
  reason: (said, response) => response.writeHead(200, line(said)).end(),
  header: (said, response) => response.setHeader('X-Said', line(said)).end(),
  name: raw((said) => [`HTTP/1.1 200 OK\r\n${line(said).replace(/[^\w-]/g, '')}: x\r\nContent-Length: 0\r\n\r\n`]),
  'not modified': (said, response) => response.writeHead(304, { ETag: `"${line(said).replaceAll('"', '')}"` }).end(),
  folded: raw((said) => [`HTTP/1.1 200 OK\r\nX-Said: a\r\n ${line(said)}\r\nContent-Length: 0\r\n\r\n`]),
  trailers: raw((said) => ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Said\r\n\r\n', chunk(Buffer.from('a')), `0\r\nX-Said: ${line(said)}\r\n\r\n`]), // prettier-ignore
  hints: raw((said) => [`HTTP/1.1 103 Early Hints\r\nLink: <${line(said)}>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na`]), // prettier-ignore
  'chunk extensions': raw((said) => ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `1;x=${line(said)}\r\na\r\n0\r\n\r\n`]), // prettier-ignore
  'transfer gzip': raw((said) => ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', chunk(gzipSync(said)), '0\r\n\r\n']), // prettier-ignore
  'transfer deflate': raw((said) => ['HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate\r\n\r\n', deflateSync(said)]),
  'both lengths': raw((said) => ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', chunk(said), '0\r\n\r\n']), // prettier-ignore
  'until the end': raw((said) => ['HTTP/1.0 200 OK\r\n\r\n', said]),
  'second answer': raw((said) => ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na', `HTTP/1.1 200 OK\r\nContent-Length: ${said.length}\r\n\r\n`, said]), // prettier-ignore
  'no HTTP': raw((said) => [said]),
  part: (said, response) => response.writeHead(206, { 'Content-Range': `bytes 0-${said.length - 1}/${said.length}` }).end(said), // prettier-ignore
  zstd: (said, response) => response.setHeader('Content-Encoding', 'zstd').end(said),
  'lying gzip': (said, response) => response.setHeader('Content-Encoding', 'gzip').end(said),
  'behind gzip': (said, response) => response.setHeader('Content-Encoding', 'gzip').end(Buffer.concat([gzipSync('a'), said])), // prettier-ignore
  'two of gzip': (said, response) => response.setHeader('Content-Encoding', 'gzip').end(Buffer.concat([said.subarray(0, 20), said.subarray(20)].map((half) => gzipSync(half)))), // prettier-ignore
};

const asJson = (response: ServerResponse) => response.setHeader('Content-Type', 'application/vnd.git-lfs+json');
/** With the header that it was asked with, whole, next to itself, and without its end. */
const withHead = (said: Buffer, { headers: { authorization = 'none' } }: IncomingMessage) =>
  Buffer.concat([Buffer.from(JSON.stringify([authorization, authorization + authorization, authorization.slice(0, -3)])), said]); // prettier-ignore

export function deliver(how: string, said: Buffer, request: IncomingMessage, response: ServerResponse): void {
  (DELIVERIES[how] ?? DELIVERIES['body'])?.(said, response, request);
}

function bytewise(bytes: Buffer, response: ServerResponse, at = 0): void {
  if (at === bytes.length) return void response.end();
  response.write(bytes.subarray(at, at + 1), () => bytewise(bytes, response, at + 1));
}

/** Frames of a web socket (RFC 6455, section 5.2), as a server sends them: `whole`, or `bytes`, one write for each byte. */
export function frames(said: Buffer, how: string): Buffer[] {
  const head = said.length < 126 ? [0x81, said.length] : [0x81, 126, said.length >> 8, said.length & 255];
  const frame = Buffer.concat([Buffer.from(head), said]);
  return how === 'bytes' ? [...frame].map((byte) => Buffer.from([byte])) : [frame];
}
