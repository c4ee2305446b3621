import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Plan } from '../../platform/config/rate-limits.js';
import { Secrets } from '../../platform/config/secrets.js';
import { Database } from '../../platform/database/database.js';
import { type JsonRow, jsonRows } from '../../platform/database/json-rows.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { isKey } from './api-key.js';
import { AuthContext, type Role } from './auth-context.js';

interface KeyRow {
  id: string;
  name: string;
  prefix: string;
  digest: string;
  scopes: Scope[];
  created_at: string;
  expires_at: string | null;
  revoked: boolean;
  expired: boolean;
  role: Role;
  user_id: string;
  user_name: string;
  email: string | null;
  kind: 'person' | 'service';
  workspace_id: string;
  workspace_name: string;
  slug: string;
  plan: Plan;
  transparency: string[] | null;
}

// One look through unique indexes for key, membership, user and workspace; not cached, so that an end works at once.
const LOOK_UP = jsonRows(`
SELECT k.id, k.name, k.prefix, encode(k.digest, 'hex') AS digest, k.scopes, k.created_at, k.expires_at,
       k.revoked_at IS NOT NULL AS revoked, coalesce(k.expires_at <= now(), false) AS expired, m.role,
       u.id AS user_id, u.name AS user_name, u.email, u.kind, w.id AS workspace_id, w.name AS workspace_name, w.slug,
       w.plan, w.transparency
FROM api_keys k
JOIN memberships m USING (workspace_id, user_id)
JOIN users u ON u.id = k.user_id
JOIN workspaces w ON w.id = k.workspace_id
WHERE k.digest = $1`);

/** Who a key stands for. */
@Injectable()
export class CredentialsService {
  private readonly pepper: Buffer;

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
  ) {
    this.pepper = secrets.key('api-keys');
  }

  /** What is stored of a key. */
  digest(key: string): Buffer {
    return this.secrets.mac(this.pepper, key);
  }

  /** Throws 401; an unreachable database is its own error, never a 401. */
  async authenticate(key: string): Promise<AuthContext> {
    if (!isKey(key)) throw invalidCredential();
    const digest = this.digest(key);
    const query = { name: 'credential', text: LOOK_UP, values: [digest] };
    const { rows } = await this.database.read.query<JsonRow<KeyRow>>(query);
    const row = rows[0]?.row;
    if (row === undefined || row.revoked || !timingSafeEqual(Buffer.from(row.digest, 'hex'), digest))
      throw invalidCredential();
    if (row.expired) throw new ApiError('expired_credential', 'The credential has expired; ask for a new key.');
    return contextOf(row);
  }
}

function invalidCredential(): ApiError {
  return new ApiError('invalid_credential', 'The credential is not valid: it is mistyped, unknown or was ended.');
}

function contextOf(row: KeyRow): AuthContext {
  return new AuthContext({
    user: { id: row.user_id, name: row.user_name, email: row.email },
    workspace: {
      id: row.workspace_id,
      name: row.workspace_name,
      slug: row.slug,
      plan: row.plan,
      exposed: row.transparency,
    },
    role: row.role,
    scopes: row.scopes,
    credentialType: row.kind === 'service' ? 'service' : 'personal_api_key',
    credential: {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      createdAt: new Date(row.created_at),
      expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    },
  });
}
