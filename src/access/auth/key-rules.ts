// What holds of every key that is made over the API: a person's own and those of service accounts (reference §3).
import type { Env } from '../../platform/config/env.js';
import { columns } from '../../platform/database/columns.js';
import { newId } from '../../platform/database/ids.js';
import { raw } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { ApiKey } from './api-key.entity.js';
import { newKey, prefixOf } from './api-key.js';
import type { CredentialsService } from './credentials.service.js';

/** Live keys of a user in a workspace. */
export const MOST_KEYS = 50;

export const KEY = columns(ApiKey, 'k', ['id', 'name', 'prefix', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt']);
/** A key as those who keep it see it. */
export type OwnKeyRow = typeof KEY.row;

/** Of a key `k`. By the clock of the database, and not as of the begin of a transaction that may have waited for a lock. */
export const LIVE = raw(`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`);

/** Of a key `k`: one that its person sees, and that counts. Those of sessions belong to the console alone. */
export const LISTED = raw('NOT k.session');

/** Throws 403 `role_not_allowed` where people sign in and only the operator makes keys. */
export function requireKeysOfPeople({ file }: Env): void {
  if (file.signIn?.keys !== 'operators') return;
  const message =
    "Only the operator makes keys here: CONFIG_FILE has signIn.keys 'operators'. People sign in to the console.";
  throw new ApiError('role_not_allowed', message);
}

/** Without the scopes of extensions that are gone: those allow nothing. */
export function shown(row: OwnKeyRow, known: readonly Scope[]): OwnKeyRow {
  return { ...row, scopes: row.scopes.filter((scope) => known.includes(scope)) };
}

/** What is asked of a new key. */
export interface WantedKey {
  workspaceId: string;
  userId: string;
  name: string;
  scopes: Scope[];
  /** Null for a key that does not expire. */
  expiresAt: Date | null;
  /** Of the key behind an invitation. */
  invitation?: ApiKey['invitation'];
  /** Of the key of a session that a provider has signed in. */
  session?: true;
}

/** Throws 400 `invalid_field` for a scope that does not exist. */
export function checkKnown(scopes: readonly Scope[], known: readonly Scope[]): void {
  const unknown = scopes.findIndex((scope) => !known.includes(scope));
  if (unknown < 0) return;
  const param = `scopes[${unknown}]`;
  throw new ApiError('invalid_field', `${param} must be one of ${known.join(', ')}.`, { param });
}

/** Throws 400 `invalid_field` for an end that has passed. */
export function checkAhead(end: Date | null, now: Date): void {
  if (end !== null && end <= now) throw invalidEnd('expiresAt must lie ahead.');
}

export function invalidEnd(message: string): ApiError {
  return new ApiError('invalid_field', message, { param: 'expiresAt' });
}

/**
 * Puts a new key into the database, for a caller who has the turn among the keys of the user.
 * @returns the row, and the secret, which exists in this one answer.
 */
export async function insertKey(
  tx: UnitOfWork,
  credentials: CredentialsService,
  kind: 'person' | 'service',
  wanted: WantedKey,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = newKey(kind);
  const keys = tx.manager.getRepository(ApiKey);
  const stored = { prefix: prefixOf(secret), digest: credentials.digest(secret), lastUsedAt: null };
  const key = keys.create({ id: newId(), ...wanted, ...stored });
  await keys.insert(key);
  return { key, secret };
}
