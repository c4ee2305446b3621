import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { DataDir } from './data-dir.js';
import { ConfigurationError, Env } from './env.js';
import { writeOnce } from './whole-files.js';
import { hasDatabase } from '../database/embedded/embedded-cluster.js';

/** In `DATA_DIR`: the secret that the first boot generates when `SECRET_KEY` is not set. */
export const SECRET_FILE = 'secret.key';

/**
 * By which a secret is known again without telling anything of it: one more key that derives from it. Hexadecimal.
 * @param secret as `SECRET_KEY` has it, or the generated one without the end of its line.
 */
export function markOf(secret: string | Buffer): string {
  return derived(Buffer.from(secret), 'backups').toString('hex');
}

/** Keys derived from `SECRET_KEY`, or from one that the first boot generates in `DATA_DIR` (reference §16). */
@Injectable()
export class Secrets {
  private readonly root: Buffer;

  constructor(env: Env, dataDir: DataDir) {
    this.root = Buffer.from(env.variables.SECRET_KEY ?? generatedSecret(dataDir.path));
  }

  /** A 32-byte key for one purpose (HKDF-SHA-256, RFC 5869). The same purpose gives the same key on every process. */
  key(purpose: 'api-keys' | 'console' | 'cursors' | 'encryption' | 'push'): Buffer {
    return derived(this.root, purpose);
  }

  /** {@link markOf} this secret. */
  get mark(): string {
    return markOf(this.root);
  }

  /** HMAC-SHA-256 of a text under the key of a purpose. */
  mac(key: Buffer, text: string): Buffer {
    return createHmac('sha256', key).update(text).digest();
  }
}

function derived(root: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, 'millwright', purpose, 32));
}

function generatedSecret(folder: string): string {
  const path = join(folder, SECRET_FILE);
  // In this order: the secret is made before the database. With a new one no key would be known, and no secret could be read.
  if (hasDatabase(folder) && !existsSync(path)) {
    throw new ConfigurationError(
      `SECRET_KEY: the secret of this installation is expected. ${path} is gone: bring it back, or set SECRET_KEY to what was in it.`,
    );
  }
  if (!existsSync(path)) writeOnce(path, randomBytes(48).toString('base64url'));
  const secret = readFileSync(path, 'utf8').trim();
  if (Buffer.byteLength(secret) < 32) {
    throw new ConfigurationError(
      `SECRET_KEY: the generated one in ${path} is shorter than 32 bytes; restore it or set SECRET_KEY.`,
    );
  }
  return secret;
}
