import type { Socket } from 'node:net';
import type { Request } from 'express';
import { ApiError } from './api-error.js';
import { headerValues } from './request.js';
import { newId } from '../database/ids.js';

/** Status line for what the parser of Node refuses before there is a request. */
const STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** A request says once for which host it is (RFC 9112 §3.2). Node would answer the lack of it bare, without a body. */
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
  const requestId = newId();
  const refusal = new ApiError('invalid_body', 'This is no HTTP request that can be read.');
  const body = JSON.stringify(refusal.body(requestId));
  const head = [
    `HTTP/1.1 ${STATUS[error.code ?? ''] ?? '400 Bad Request'}`,
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
