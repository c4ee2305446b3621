import type { Request } from 'express';
import { ApiError } from './api-error.js';
import { invalid } from './json-body.js';

/** Bytes. */
export const MAX_JSON_BODY = 1024 * 1024;
/** Milliseconds for the whole of a JSON body. The server's own limit is meant for uploads. */
const PATIENCE = 30_000;

/** Reads a body of at most {@link MAX_JSON_BODY}. Throws 413 as soon as there is more, without reading on. */
export function readBody(req: Request): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > MAX_JSON_BODY) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void) => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      act();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_JSON_BODY) settle(() => reject(tooLarge()));
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, size)));
    const onGone = () => settle(() => reject(invalid('The body ended early.')));
    const onLate = () => settle(() => reject(invalid(`The body did not arrive within ${PATIENCE / 1000} seconds.`)));
    const timer = setTimeout(onLate, PATIENCE);
    req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

function tooLarge(): ApiError {
  return new ApiError('too_large', 'The body is larger than the 1 MiB that is accepted.');
}

/**
 * Takes in what is left of a request that was refused before its body was read: a client that is still sending would else get
 * a reset connection in place of the answer. Node does this by itself while the connection is kept open. This function is for
 * connections that are closed after the answer, and ends after `ms`.
 */
export function drain(req: Request, ms = 5_000): Promise<void> {
  if (req.complete || req.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      req.off('end', done).off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    req.on('end', done).on('close', done).resume();
  });
}
