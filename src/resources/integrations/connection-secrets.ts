import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Secrets } from '../../platform/config/secrets.js';

const CIPHER = 'aes-256-gcm';
/** Bytes: what NIST SP 800-38D recommends for GCM. */
const NONCE = 12;
const TAG = 16;

/**
 * Encrypts the secrets of connections under a key of `SECRET_KEY` (reference §13): nonce, tag and text in one. The id of the connection
 * is bound to it: the secret of one connection is none in the row of another.
 */
@Injectable()
export class ConnectionSecrets {
  private readonly key: Buffer;

  constructor(secrets: Secrets) {
    this.key = secrets.key('encryption');
  }

  seal(connectionId: string, secret: string): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(bound(connectionId));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  /** Throws for what was sealed under another `SECRET_KEY`, for another connection, or changed since. */
  open(connectionId: string, sealed: Buffer): string {
    const decipher = createDecipheriv(CIPHER, this.key, sealed.subarray(0, NONCE), { authTagLength: TAG })
      .setAAD(bound(connectionId))
      .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  }
}

/** A new secret in the form of Standard Webhooks, 32 random bytes; to the providers that take any text it is a text. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function bound(connectionId: string): Buffer {
  return Buffer.from(`connection ${connectionId}`);
}
