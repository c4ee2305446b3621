import type { Request } from 'express';
import { ApiError } from './api-error.js';
import { invalid } from './json-body.js';

/** Bytes. */
export const MAX_JSON_BODY = 1024 * 1024;
/** Milliseconds for the whole of a body. The server's own limit is meant for uploads. */
const PATIENCE = 30_000;

export interface BodyLimits {
  /** Bytes. */
  most: number;
  /** The same in words: `1 MiB`. */
  inWords: string;
  /** Called with the length of each piece that comes. */
  onPiece?: (bytes: number) => void;
  /** Its reason becomes the error. */
  signal?: AbortSignal;
}

const JSON_BODY: BodyLimits = { most: MAX_JSON_BODY, inWords: '1 MiB' };

/** Reads a body. Throws 413 as soon as there is more than may be, without reading on, and 400 when it ends early or is late. */
export function readBody(req: Request, limits: BodyLimits = JSON_BODY): Promise<Buffer> {
  const { most, signal } = limits;
  if (Number(req.headers['content-length'] ?? 0) > most) return Promise.reject(tooLarge(limits));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void) => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      signal?.removeEventListener('abort', onAborted);
      act();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > most) settle(() => reject(tooLarge(limits)));
      else limits.onPiece?.(chunk.length);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, size)));
    const onGone = () => settle(() => reject(invalid('The body ended early.')));
    const onLate = () => settle(() => reject(invalid(`The body did not arrive within ${PATIENCE / 1000} seconds.`)));
    const onAborted = () => settle(() => reject(signal?.reason as Error));
    const timer = setTimeout(onLate, PATIENCE);
    signal?.addEventListener('abort', onAborted);
    req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

function tooLarge({ inWords }: BodyLimits): ApiError {
  return new ApiError('too_large', `The body is larger than the ${inWords} that is accepted.`);
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
