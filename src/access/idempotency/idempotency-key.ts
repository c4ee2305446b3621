import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import { ApiError } from '../../platform/http/api-error.js';

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
