// What a session keeps that only the browser's own cookie opens: the database has the bytes, and its secret is no key to them.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];

const keyOf = (id: string) => Buffer.from(hkdfSync('sha256', id, '', 'millwright session', 32));

/** @param id that of the session, as the cookie has it. */
export function sealedWith(id: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(id), iv);
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]);
}

/** Throws for bytes that were sealed with another id. */
export function openedWith(id: string, sealed: Buffer): string {
  const decipher = createDecipheriv(CIPHER, keyOf(id), sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}
