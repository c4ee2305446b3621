import { maxHeaderSize, METHODS } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Request } from 'express';
import { ApiError, type ErrorCode } from './api-error.js';
import { headerValues } from './request.js';
import { newId } from '../database/ids.js';

type Refusal = readonly [statusLine: string, code: ErrorCode, message: string];

/** What Node's parser refuses before there is a request, by the code of its error. */
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'header_too_large',
    `The request line and the headers are larger than the ${maxHeaderSize / 1024} KiB that are accepted.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'invalid_body', 'The request did not arrive in time.'],
  HPE_INVALID_EOF_STATE: ['400 Bad Request', 'invalid_body', 'The request ended early.'],
};
const UNKNOWN_METHOD: Refusal = ['501 Not Implemented', 'method_not_allowed', 'The service does not know this method.'];
/** A request line whose method alone is unknown (RFC 9110 §15.6.2); any other line is no request. */
const REQUEST_LINE = /^([!#$%&'*+.^`|~\w-]+) \S+ HTTP\/1\.[01]\r?\n/;
const UNREADABLE: Refusal = ['400 Bad Request', 'invalid_body', 'This is no HTTP request that can be read.'];

/** A host and perhaps a port (RFC 9110 §7.2, RFC 3986 §3.2.2); an empty value is allowed there. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(\d{0,5}))?$/i;
const LAST_PORT = 65_535;

/** A request names its host exactly once (RFC 9112 §3.2). Node would answer a missing one without a body. */
export function wrongHost(req: Request): ApiError | undefined {
  const hosts = headerValues(req, 'host');
  const [host = '', ...more] = hosts;
  if (more.length > 0 || (hosts.length === 0 && req.httpVersion !== '1.0')) {
    return new ApiError('invalid_body', 'A request must have the header Host exactly once.');
  }
  const found = HOST.exec(host);
  if (found !== null && Number(found[1] ?? 0) <= LAST_PORT) return undefined;
  return new ApiError('invalid_body', 'The header Host must be a host and, with a colon, a port.');
}

function refusalOf({ code = '', rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): Refusal {
  if (code === 'HPE_INVALID_METHOD') {
    // What cannot be read may also stand behind a request of the same packet, whose method is known.
    const method = REQUEST_LINE.exec(rawPacket?.toString('latin1') ?? '')?.[1];
    if (method !== undefined && !METHODS.includes(method)) return UNKNOWN_METHOD;
  }
  return REFUSALS[code] ?? UNREADABLE;
}

/** Answers bytes that are no HTTP request in the shape of every other error, and closes the connection. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  answer(socket, refusalOf(error));
}

/** For CONNECT, which Node takes for no request of HTTP and would answer by the end of the connection. */
export function refuseTunnel(_req: unknown, socket: Duplex): void {
  answer(socket, UNKNOWN_METHOD);
}

function answer(socket: Duplex, [statusLine, code, message]: Refusal): void {
  const requestId = newId();
  const body = JSON.stringify(new ApiError(code, message).body(requestId));
  const head = [
    `HTTP/1.1 ${statusLine}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
