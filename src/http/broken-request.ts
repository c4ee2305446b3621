import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { ApiError } from './api-error.js';
import { headerValues } from './request.js';

/** Status line for what the parser of Node refuses before there is a request. */
const STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** A request says once for which host it is (RFC 9112 §3.2). Node would answer the lack of it bare, without a body. */
export function requireHost(req: Request, _res: Response, next: NextFunction): void {
  const hosts = headerValues(req, 'host').length;
  const right = hosts === 1 || (hosts === 0 && req.httpVersion === '1.0');
  next(right ? undefined : new ApiError('invalid_body', 'A request must have the header Host exactly once.'));
}

/** Answers bytes that are no HTTP request in the shape of every other error, and closes the connection. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const requestId = uuidv7();
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
