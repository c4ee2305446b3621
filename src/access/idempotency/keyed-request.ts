import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { ApiError } from '../../platform/http/api-error.js';

export interface KeyedRequest {
  workspaceId: string;
  userId: string;
  method: string;
  /** Concrete, canonical. */
  path: string;
  key: string;
  fingerprint: Buffer;
}

/** An answer as stored and sent: a replay is byte for byte. */
export interface Answer {
  status: number;
  body: string;
  location: string | null;
  replayed: boolean;
}

/** What a key is unique by (reference §8). */
export function identity({ workspaceId, userId, method, path, key }: KeyedRequest): string[] {
  return [workspaceId, userId, method, path, key];
}

/** A stored or shared answer for the same request again. Throws 409 `idempotency_key_reused` for another one. */
export function replayOf(answer: Omit<Answer, 'replayed'>, first: Buffer, again: KeyedRequest): Answer {
  if (!first.equals(again.fingerprint)) {
    throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used with another body; take a new key.');
  }
  return { status: answer.status, body: answer.body, location: answer.location, replayed: true };
}

/** 409 with `Retry-After`. */
export function inProgress(): ApiError {
  return new ApiError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
    headers: { 'Retry-After': '1' },
  });
}

/** The key of a request's `Idempotency-Key` header lines (reference §8); undefined when there is none. */
export function readIdempotencyKey(lines: readonly string[], required: boolean): string | undefined {
  const [line] = lines;
  if (line === undefined) {
    if (!required) return undefined;
    throw new ApiError('missing_idempotency_key', 'This operation needs an Idempotency-Key header.');
  }
  const key = /^"(.*)"$/.exec(line)?.[1] ?? line;
  if (lines.length > 1 || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new ApiError(
      'invalid_idempotency_key',
      'One Idempotency-Key header of 1 to 255 visible ASCII characters is expected.',
    );
  }
  return key;
}

/** SHA-256 of a body's canonical form: key order and white space do not matter, everything else does. */
export function fingerprintOf(body: unknown): Buffer {
  const canonical = stringify(body) ?? '';
  return createHash('sha256').update(canonical).digest();
}
