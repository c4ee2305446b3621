// The secret that the first boot generates in DATA_DIR when `SECRET_KEY` is not set, and the one before it while it is changed.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from './env.js';
import { writeOnce, writeWhole } from './whole-files.js';
import { hasDatabase } from '../database/embedded/embedded-cluster.js';

export const SECRET_FILE = 'secret.key';
/** The one before, from the beginning of `secret-key rotate` until nothing needs it. */
export const PREVIOUS_SECRET_FILE = 'secret.key.previous';

/** A secret, and the one that it takes the place of. */
export interface SecretPair {
  current: string;
  previous: string | null;
}

/** What is there; null where there is no secret. Throws {@link ConfigurationError} for one that is too short. */
export function secretsIn(folder: string): SecretPair | null {
  // In this order: the second one is there before the first is replaced.
  const current = contentOf(join(folder, SECRET_FILE));
  const previous = contentOf(join(folder, PREVIOUS_SECRET_FILE));
  // A rotation that was killed at its beginning has left two that are the same.
  return current === null ? null : { current, previous: previous === current ? null : previous };
}

/** What is there, made where there is none. Throws {@link ConfigurationError}. */
export function generatedSecrets(folder: string): SecretPair {
  const path = join(folder, SECRET_FILE);
  // In this order: the secret is made before the database. With a new one no key would be known, and no secret could be read.
  if (hasDatabase(folder) && !existsSync(path)) {
    throw new ConfigurationError(
      `SECRET_KEY: the secret of this installation is expected. ${path} is gone: bring it back, or set SECRET_KEY to what was in it.`,
    );
  }
  if (!existsSync(path)) writeOnce(path, newSecretKey());
  return secretsIn(folder) ?? generatedSecrets(folder);
}

/** Puts a new secret in place of the generated one, which is kept beside it. One that was put there before, and is not done with, stays. */
export function replaceSecret(folder: string): void {
  const found = secretsIn(folder);
  if (found === null || found.previous !== null) return;
  writeWhole(join(folder, PREVIOUS_SECRET_FILE), found.current);
  writeWhole(join(folder, SECRET_FILE), newSecretKey());
}

/** Nothing needs the one before any more. */
export function forgetPreviousSecret(folder: string): void {
  rmSync(join(folder, PREVIOUS_SECRET_FILE), { force: true });
}

/** Changes when the secret in a folder is replaced; null while there is none. */
export function versionOf(folder: string): string | null {
  const found = statSync(join(folder, SECRET_FILE), { throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino} ${found.mtimeMs}`;
}

const newSecretKey = () => randomBytes(48).toString('base64url');

function contentOf(path: string): string | null {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (Buffer.byteLength(secret) >= 32) return secret;
  throw new ConfigurationError(
    `SECRET_KEY: the generated one in ${path} is shorter than 32 bytes; restore it or set SECRET_KEY.`,
  );
}
