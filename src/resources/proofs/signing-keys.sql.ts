import { columns } from '../../platform/database/columns.js';
import { bytes, int, sql, text } from '../../platform/database/sql.js';
import { SigningKey } from './signing-key.entity.js';

const KEY = columns(SigningKey, 'k', ['generation', 'publicKey', 'createdAt']);
export type SigningKeyRow = typeof KEY.row;
const SEALED = columns(SigningKey, 'k', ['generation', 'publicKey', 'seed']);
export type SealedKeyRow = typeof SEALED.row;

/** All of them, the one that signs first. */
export const LIST = sql`SELECT ${KEY} FROM signing_keys k ORDER BY k.generation DESC`.rows<SigningKeyRow>();

export const NEWEST = sql`
SELECT ${SEALED} FROM signing_keys k ORDER BY k.generation DESC LIMIT 1`.rows<SealedKeyRow>();

/** Nothing where somebody else has begun that generation. The private halves of earlier ones are gone with it: nobody needs them. */
export const BEGIN = sql`
WITH begun AS (
  INSERT INTO signing_keys (generation, public_key, seed)
  VALUES (${int('generation')}, ${text('publicKey')}, ${bytes('seed')})
  ON CONFLICT DO NOTHING RETURNING *),
forgotten AS (
  UPDATE signing_keys SET seed = NULL WHERE generation < ${int('generation')} AND EXISTS (SELECT FROM begun))
SELECT ${KEY} FROM begun k`.rows<SigningKeyRow>();
