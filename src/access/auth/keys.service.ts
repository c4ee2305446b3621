import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { newKey, prefixOf } from './api-key.js';
import { CredentialsService } from './credentials.service.js';
import { OperatorError } from './operator-error.js';

export interface KeyRecord {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  userId: string;
  /** Of the person or the service account. */
  userName: string;
  /** Null for a service account. */
  userEmail: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  /** To about a minute (`key-uses.ts`); null for a key that was never used. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

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

/** Of keys `k`, with whose they are. */
const records = (keys: string) => `
SELECT k.id, k.name, k.prefix, k.scopes, k.user_id AS "userId", u.name AS "userName", u.email AS "userEmail",
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.last_used_at AS "lastUsedAt", k.revoked_at AS "revokedAt"
FROM ${keys} k JOIN users u ON u.id = k.user_id`;

/** Keys of people and of service accounts. A secret is returned once, when it is made; the database holds its digest. */
@Injectable()
export class KeysService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly credentials: CredentialsService,
  ) {}

  /** Throws {@link OperatorError} when the user is not a member. */
  async create(key: NewKey): Promise<KeyRecord & { secret: string }> {
    const kind = key.service === true ? 'service' : 'person';
    const secret = newKey(kind);
    const [record] = await this.dataSource.query<KeyRecord[]>(
      `WITH made AS (
         INSERT INTO api_keys (id, workspace_id, user_id, name, prefix, digest, scopes, expires_at)
         SELECT $1, m.workspace_id, m.user_id, $4, $5, $6, $7, now() + make_interval(secs => $8)
         FROM memberships m JOIN users u ON u.id = m.user_id AND u.kind = $9
         WHERE m.workspace_id = $2 AND m.user_id = $3 FOR SHARE OF m RETURNING *)
       ${records('made')}`,
      [
        newId(),
        key.workspaceId,
        key.userId,
        key.name,
        prefixOf(secret),
        this.credentials.digest(secret),
        key.scopes,
        key.lifetimeSeconds,
        kind,
      ],
    );
    if (record === undefined) {
      throw new OperatorError(`This user is not a member of this workspace; add it with 'member add'.`);
    }
    return { ...record, secret };
  }

  /** All keys of a workspace, revoked and expired ones too, oldest first. */
  list(workspaceId: string): Promise<KeyRecord[]> {
    return this.dataSource.query(`${records('api_keys')} WHERE k.workspace_id = $1 ORDER BY k.created_at, k.id`, [
      workspaceId,
    ]);
  }

  /** Ends a key from the next request on; tasks that it started go on. Throws {@link OperatorError}. */
  async revoke(id: string): Promise<KeyRecord> {
    const [revoked] = isUuid(id)
      ? await this.dataSource.query<KeyRecord[]>(
          `WITH ended AS (UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING *)
           ${records('ended')}`,
          [id],
        )
      : [];
    if (revoked === undefined) throw new OperatorError(`There is no key '${id}'; 'key list' shows the ids.`);
    return revoked;
  }
}
