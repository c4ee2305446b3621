import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Secrets } from './secrets.js';

const CIPHER = 'aes-256-gcm';
/** Bytes: what NIST SP 800-38D recommends for GCM. */
const NONCE = 12;
const TAG = 16;

/**
 * Encrypts secrets under a key of `SECRET_KEY` before they go into a row (reference §13, §18): nonce, tag and text in one. Whose a
 * secret is, such as `connection <id>`, is bound to it: the secret of one row is none in another.
 */
@Injectable()
export class Sealing {
  private readonly key: Buffer;

  constructor(secrets: Secrets) {
    this.key = secrets.key('encryption');
  }

  seal(owner: string, secret: string): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(Buffer.from(owner));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  /** Throws for what was sealed under another `SECRET_KEY`, for another owner, or changed since. */
  open(owner: string, sealed: Buffer): string {
    const decipher = createDecipheriv(CIPHER, this.key, sealed.subarray(0, NONCE), { authTagLength: TAG })
      .setAAD(Buffer.from(owner))
      .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  }
}

/** A new secret in the form of Standard Webhooks, 32 random bytes; to those who take any text it is a text. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
