import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
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
const UNREADABLE: Refusal = ['400 Bad Request', 'invalid_body', 'This is no HTTP request that can be read.'];

/** A request names its host exactly once (RFC 9112 §3.2). Node would answer a missing one without a body. */
export function wrongHost(req: Request): ApiError | undefined {
  const hosts = headerValues(req, 'host').length;
  if (hosts === 1 || (hosts === 0 && req.httpVersion === '1.0')) return undefined;
  return new ApiError('invalid_body', 'A request must have the header Host exactly once.');
}

/** Answers bytes that are no HTTP request in the shape of every other error, and closes the connection. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const [statusLine, code, message] = REFUSALS[error.code ?? ''] ?? UNREADABLE;
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
