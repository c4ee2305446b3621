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
