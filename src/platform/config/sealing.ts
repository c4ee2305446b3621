import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Secret, Secrets } from './secrets.js';

const CIPHER = 'aes-256-gcm';
/** Bytes: what NIST SP 800-38D recommends for GCM. */
const NONCE = 12;
const TAG = 16;
/** With which sealed bytes begin that say by which key they were sealed: these four, then the key's id. Others begin with their nonce. */
const FORM = Buffer.from('mws1');
const ID = 4;
/** Bytes. */
export const HEADER = FORM.length + ID;

interface Key {
  /** What sealed bytes that name this key begin with. */
  header: Buffer;
  key: Buffer;
}

/** The id in sealed bytes: 8 hexadecimal digits; null where they name no key. */
export function keyIdOf(sealed: Buffer): string | null {
  return FORM.equals(sealed.subarray(0, FORM.length)) ? sealed.toString('hex', FORM.length, HEADER) : null;
}

/**
 * Encrypts secrets under a key of `SECRET_KEY` before they go into a row (reference §13, §18): nonce, tag and text in one. Whose a
 * secret is, such as `connection <id>`, is bound to it: the secret of one row is none in another. While `SECRET_KEY` is changed it begins
 * with the id of its key; else not, so that processes of the version before, which know no ids, read it (docs/decisions/0097).
 */
@Injectable()
export class Sealing {
  private current: Key;
  private previous: Key | null;

  constructor(private readonly secrets: Secrets) {
    [this.current, this.previous] = keysOf(secrets);
  }

  /** Of the key that seals: 8 hexadecimal digits. */
  get keyId(): string {
    return idOf(this.current);
  }

  /** Of the key of the secret before; null where there is none. */
  get previousKeyId(): string | null {
    return this.previous && idOf(this.previous);
  }

  /** With what {@link sealNamed} begins. */
  get header(): Buffer {
    return this.current.header;
  }

  seal(owner: string, secret: string): Buffer {
    this.refresh();
    return this.previous === null ? encrypt(this.current.key, owner, secret) : this.sealNamed(owner, secret);
  }

  /** {@link seal}, and says by which key. */
  sealNamed(owner: string, secret: string): Buffer {
    const { header, key } = this.current;
    return Buffer.concat([header, encrypt(key, owner, secret)]);
  }

  /** Throws for what was sealed under another `SECRET_KEY`, for another owner, or changed since. */
  open(owner: string, sealed: Buffer): string {
    return this.opened(owner, sealed).text;
  }

  /** {@link open}, and the id of the key that it was sealed under. */
  opened(owner: string, sealed: Buffer): { text: string; keyId: string } {
    const found = this.attempt(owner, sealed) ?? (this.refresh() ? this.attempt(owner, sealed) : null);
    if (found === null) throw new Error('It was sealed under another SECRET_KEY, for another owner, or changed since.');
    return found;
  }

  private attempt(owner: string, sealed: Buffer): { text: string; keyId: string } | null {
    const keys = this.previous === null ? [this.current] : [this.current, this.previous];
    // A nonce may begin as a header does: that is tried, too.
    const named = keys.filter(({ header }) => header.equals(sealed.subarray(0, HEADER)));
    const attempts = [
      ...named.map((key) => ({ key, body: sealed.subarray(HEADER) })),
      ...keys.map((key) => ({ key, body: sealed })),
    ];
    for (const { key, body } of attempts) {
      const text = decrypted(key.key, owner, body);
      if (text !== null) return { text, keyId: idOf(key) };
    }
    return null;
  }

  /** Whether the secret has been replaced since; then it is taken. */
  refresh(): boolean {
    const changed = this.secrets.refresh();
    if (changed) [this.current, this.previous] = keysOf(this.secrets);
    return changed;
  }
}

function keysOf({ current, previous }: Pick<Secrets, 'current' | 'previous'>): [Key, Key | null] {
  return [keyOf(current), previous && keyOf(previous)];
}

function keyOf(secret: Secret): Key {
  const header = Buffer.concat([FORM, secret.key('encryption-id').subarray(0, ID)]);
  return { header, key: secret.key('encryption') };
}

const idOf = ({ header }: Key): string => header.toString('hex', FORM.length);

function encrypt(key: Buffer, owner: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(owner));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** Null for what another key, or another owner, was sealed with. */
function decrypted(key: Buffer, owner: string, body: Buffer): string | null {
  if (body.length < NONCE + TAG) return null;
  const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(Buffer.from(owner))
    .setAuthTag(body.subarray(NONCE, NONCE + TAG));
  try {
    return Buffer.concat([decipher.update(body.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** A new secret in the form of Standard Webhooks, 32 random bytes; to those who take any text it is a text. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
