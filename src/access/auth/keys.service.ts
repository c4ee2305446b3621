import { Injectable } from '@nestjs/common';
import { columns } from '../../platform/database/columns.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { bytes, doubleOrNull, sql, text, texts, uuid } from '../../platform/database/sql.js';
import { recordOperator } from '../audit/record.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { ApiKey } from './api-key.entity.js';
import { newKey, prefixOf } from './api-key.js';
import { LISTED } from './key-rules.js';
import { CredentialsService } from './credentials.service.js';
import { nameOf, OperatorError } from './operator-error.js';

interface NewKey {
  workspaceId: string;
  userId: string;
  /** The user is a service account. */
  service?: boolean;
  name: string;
  scopes: readonly Scope[];
  /** Seconds from now, by the database's clock; null for a key that does not expire. */
  lifetimeSeconds: number | null;
}

const KEY = columns(ApiKey, 'k', [
  'id',
  'name',
  'prefix',
  'scopes',
  'userId',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
]);
/** A key with the name and address of its person or service account; an account has no address. */
export type KeyRecord = typeof KEY.row & { userName: string; userEmail: string | null };
const RECORD = sql`${KEY}, u.name AS "userName", u.email AS "userEmail"`;

// The membership is held: its removal comes before, and there is no key, or after, and takes the key along.
const CREATE = sql`
WITH k AS (
  INSERT INTO api_keys (id, workspace_id, user_id, name, prefix, digest, scopes, expires_at)
  SELECT ${uuid('id')}, m.workspace_id, m.user_id, ${text('name')}, ${text('prefix')}, ${bytes('digest')}, ${texts('scopes')},
    now() + make_interval(secs => ${doubleOrNull('lifetimeSeconds')})
  FROM memberships m JOIN users u ON u.id = m.user_id AND u.kind = ${text('kind')}
  WHERE m.workspace_id = ${uuid('workspaceId')} AND m.user_id = ${uuid('userId')} FOR SHARE OF m
  RETURNING *)
SELECT ${RECORD} FROM k JOIN users u ON u.id = k.user_id`.rows<KeyRecord>();

const LIST = sql`
SELECT ${RECORD} FROM api_keys k JOIN users u ON u.id = k.user_id
WHERE k.workspace_id = ${uuid('workspaceId')} AND ${LISTED} ORDER BY k.created_at, k.id`.rows<KeyRecord>();

const REVOKE = sql`
WITH k AS (UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = ${uuid('id')} RETURNING *)
SELECT ${RECORD}, k.workspace_id AS "workspaceId" FROM k JOIN users u ON u.id = k.user_id`.rows<
  KeyRecord & { workspaceId: string }
>();

/** Keys of people and of service accounts. A secret is returned once, when it is made; the database holds its digest. */
@Injectable()
export class KeysService {
  constructor(
    private readonly transactions: Transactions,
    private readonly credentials: CredentialsService,
  ) {}

  /** Throws {@link OperatorError} when the user is not a member, or the name is none. */
  async create(key: NewKey): Promise<KeyRecord & { secret: string }> {
    const kind = key.service === true ? 'service' : 'person';
    const secret = newKey(kind);
    const digest = this.credentials.digest(secret);
    const name = nameOf(key.name, 'A key name');
    const made = { ...key, name, id: newId(), kind, prefix: prefixOf(secret), digest };
    return this.transactions.open(async (tx) => {
      const [record] = await tx.run(CREATE(made));
      if (record === undefined) {
        throw new OperatorError(`This user is not a member of this workspace; add it with 'member add'.`);
      }
      await recordOperator(tx, key.workspaceId, 'key.create', { type: 'key', id: made.id });
      return { ...record, secret };
    });
  }

  /** All keys of a workspace but those of sessions, revoked and expired ones too, oldest first. */
  list(workspaceId: string): Promise<KeyRecord[]> {
    return this.transactions.run(LIST({ workspaceId }));
  }

  /** Ends a key from the next request on; tasks that it started go on. Throws {@link OperatorError}. */
  async revoke(id: string): Promise<KeyRecord> {
    return this.transactions.open(async (tx) => {
      const [revoked] = isUuid(id) ? await tx.run(REVOKE({ id })) : [];
      if (revoked === undefined) throw new OperatorError(`There is no key '${id}'; 'key list' shows the ids.`);
      const { workspaceId, ...key } = revoked;
      await recordOperator(tx, workspaceId, 'key.revoke', { type: 'key', id: key.id });
      return key;
    });
  }
}
