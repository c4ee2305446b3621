// What the signature schemes of the providers have in common (reference §13).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';

/** Hashed without a pause; 25 MiB at once take 30 ms. Bytes. */
const SLICE = 1024 * 1024;

/** The value of a header that was sent; its name in small letters. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** The 64 hexadecimal digits behind a prefix as bytes; letters may be small or capital. */
export function hexDigest(text: string | undefined, prefix = ''): Buffer | null {
  const hex = text?.startsWith(prefix) === true ? text.slice(prefix.length) : '';
  return /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : null;
}

/** Whether the time of a signature is at most so far from the time of the arrival, before it or after it. Milliseconds. */
export function isFresh(signedAt: number, receivedAt: Date, toleranceMs: number): boolean {
  return Math.abs(receivedAt.getTime() - signedAt) <= toleranceMs;
}

/** Whether a time in whole seconds is at most five minutes from the time of the arrival. */
export function isOfNow(seconds: string, receivedAt: Date): boolean {
  return /^[1-9]\d{0,11}$/.test(seconds) && isFresh(Number(seconds) * 1000, receivedAt, 300_000);
}

/**
 * Whether one of the digests is the HMAC-SHA256 of the parts, one behind the other, under one of the keys. Every digest is compared with
 * that of every key, in constant time. By node:crypto for all schemes: the providers' own libraries take the body as text, and hash
 * 25 MiB of it in 80 to 1,000 ms without a pause. The tests sign with those libraries.
 */
export async function isSigned(
  keys: readonly (string | Buffer)[],
  parts: readonly (string | Buffer)[],
  digests: readonly (Buffer | null)[],
): Promise<boolean> {
  let signed = false;
  for (const key of keys) {
    // Everybody can sign with an empty key.
    if (key.length === 0) continue;
    const expected = await hmac(key, parts);
    for (const digest of digests) {
      if (digest?.length === expected.length && timingSafeEqual(digest, expected)) signed = true;
    }
  }
  return signed;
}

/** Signs a short text as {@link isSigned} expects it: HMAC-SHA256 in hexadecimal digits. */
export function signed(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

async function hmac(key: string | Buffer, parts: readonly (string | Buffer)[]): Promise<Buffer> {
  const hash = createHmac('sha256', key);
  for (const part of parts) {
    if (typeof part === 'string') hash.update(part);
    else {
      for (let at = 0; at < part.length; at += SLICE) {
        if (at > 0) await setImmediate();
        hash.update(part.subarray(at, at + SLICE));
      }
    }
  }
  return hash.digest();
}
