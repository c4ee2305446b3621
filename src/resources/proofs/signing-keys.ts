import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Sealing } from '../../platform/config/sealing.js';
import { Secrets } from '../../platform/config/secrets.js';
import { Database } from '../../platform/database/database.js';
import type { Sql } from '../../platform/database/sql.js';
import { ownerOfSigningKey } from './signing-key.entity.js';
import { BEGIN, LIST, NEWEST, type SigningKeyRow } from './signing-keys.sql.js';

/** What stands before the 32 bytes of a private key of Ed25519 in PKCS #8 (RFC 8410 §7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs bytes; `kid` says by which key. */
export interface Signer {
  kid: string;
  sign: (bytes: Buffer) => Buffer;
}

/** The keys of the installation that proofs are signed with (docs/decisions/0102). */
@Injectable()
export class SigningKeys implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    private readonly sealing: Sealing,
  ) {}

  /** The first boot makes the first one. Of several processes one is faster, and the others have its key. */
  async onApplicationBootstrap(): Promise<void> {
    const found = await this.database.read.run(NEWEST());
    if (found.length === 0) await beginGeneration(this.database.work, this.secrets, this.sealing);
  }

  /** Rejects for a key that was lost with its SECRET_KEY. */
  async signer(): Promise<Signer> {
    const [newest] = await this.database.read.run(NEWEST());
    if (newest === undefined) throw new Error("No key signs proofs: 'signing-key rotate' makes one.");
    const { generation, publicKey, seed } = newest;
    try {
      if (seed === null) throw new Error('It is gone.');
      return signerOf(publicKey, Buffer.from(this.sealing.open(ownerOfSigningKey(generation), seed), 'base64url'));
    } catch (cause) {
      throw new Error(
        `The private half of signing key ${generation} cannot be read: it was lost with its SECRET_KEY. 'signing-key rotate' begins the next one.`,
        { cause },
      );
    }
  }

  /** The public halves of all, the one that signs first. */
  async all(): Promise<SigningKeyRow[]> {
    return this.database.read.run(LIST());
  }
}

/**
 * The next pair. It derives from the SECRET_KEY of now, and is kept sealed: after a new SECRET_KEY it is what it was, and who has read the
 * former SECRET_KEY knows no pair that is begun after it was changed. Null where somebody else has begun this generation.
 */
export async function beginGeneration(
  database: Sql,
  secrets: Secrets,
  sealing: Sealing,
): Promise<SigningKeyRow | null> {
  const [newest] = await database.run(NEWEST());
  const generation = (newest?.generation ?? 0) + 1;
  sealing.refresh();
  const seed = secrets.current.key(`signing-key ${generation}`);
  const sealed = sealing.seal(ownerOfSigningKey(generation), seed.toString('base64url'));
  const [begun] = await database.run(BEGIN({ generation, publicKey: publicHalfOf(seed), seed: sealed }));
  return begun ?? null;
}

/** @param seed the 32 bytes that the private half is made of. */
export function signerOf(publicKey: string, seed: Buffer): Signer {
  const key = privateKeyOf(seed);
  return { kid: thumbprintOf(publicKey), sign: (bytes) => sign(null, bytes, key) };
}

/** How a key is named: the thumbprint of its JWK (RFC 7638, RFC 8037 §2). */
export function thumbprintOf(publicKey: string): string {
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey });
  return createHash('sha256').update(members).digest('base64url');
}

const privateKeyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });

function publicHalfOf(seed: Buffer): string {
  const { x } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' });
  if (x === undefined) throw new Error('A key of Ed25519 has an x.');
  return x;
}
