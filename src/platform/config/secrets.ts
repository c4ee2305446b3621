import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataDir } from './data-dir.js';
import { Env } from './env.js';
import { generatedSecrets, type SecretPair, secretsIn, versionOf } from './secret-file.js';

/**
 * By which a secret is known again without telling anything of it: one more key that derives from it. Hexadecimal.
 * @param secret as `SECRET_KEY` has it, or the generated one without the end of its line.
 */
export function markOf(secret: string): string {
  return new Secret(secret).mark;
}

/** One value of `SECRET_KEY`. */
export class Secret {
  private readonly root: Buffer;
  /** {@link markOf} it. */
  readonly mark: string;

  constructor(secret: string) {
    this.root = Buffer.from(secret);
    this.mark = this.key('backups').toString('hex');
  }

  /** A 32-byte key for one purpose (HKDF-SHA-256, RFC 5869). The same purpose gives the same key on every process. */
  key(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.root, 'millwright', purpose, 32));
  }
}

/**
 * `SECRET_KEY`, or the one that the first boot generates in `DATA_DIR`, and the one before it while it is changed (reference §16). What is
 * encrypted follows them (`Sealing`); keys that have to stay what they are do not (`LastingKeys`).
 */
@Injectable()
export class Secrets {
  current: Secret;
  /** Null unless the secret is being changed. */
  previous: Secret | null;
  /** Where a generated one lies; null where the environment has it. */
  readonly folder: string | null;
  private version: string | null = null;

  constructor(env: Env, dataDir: DataDir) {
    const { SECRET_KEY, SECRET_KEY_PREVIOUS } = env.variables;
    this.folder = SECRET_KEY === undefined ? dataDir.path : null;
    const pair =
      SECRET_KEY === undefined
        ? generatedSecrets(dataDir.path)
        : { current: SECRET_KEY, previous: SECRET_KEY_PREVIOUS ?? null };
    ({ current: this.current, previous: this.previous } = secretsOf(pair));
    if (this.folder !== null) this.version = versionOf(this.folder);
  }

  /** {@link markOf} the current one. */
  get mark(): string {
    return this.current.mark;
  }

  /** The one with a mark; undefined when it is neither. */
  withMark(mark: string): Secret | undefined {
    return [this.current, this.previous].find((one) => one?.mark === mark) ?? undefined;
  }

  /** Whether `secret-key rotate` has replaced the generated secret since; then it is taken. Costs a look at one file. */
  refresh(): boolean {
    if (this.folder === null) return false;
    const version = versionOf(this.folder);
    const found = version === this.version ? null : secretsIn(this.folder);
    if (found === null) return false;
    this.version = version;
    const former = this.current;
    ({ current: this.current, previous: this.previous } = secretsOf(found));
    // What was read from a row before, and is opened now.
    this.previous ??= former;
    return true;
  }
}

function secretsOf({ current, previous }: SecretPair): Pick<Secrets, 'current' | 'previous'> {
  return { current: new Secret(current), previous: previous === null ? null : new Secret(previous) };
}
