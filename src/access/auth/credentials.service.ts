import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Secrets } from '../../platform/config/secrets.js';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { bytes, type Json, sql } from '../../platform/database/sql.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Membership } from '../workspaces/membership.entity.js';
import { User } from '../workspaces/user.entity.js';
import { Workspace } from '../workspaces/workspace.entity.js';
import { ApiKey } from './api-key.entity.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { isKey } from './api-key.js';
import { AuthContext } from './auth-context.js';

const KEY = columns(ApiKey, 'k', ['id', 'name', 'prefix', 'scopes', 'createdAt', 'expiresAt']);
const MEMBERSHIP = columns(Membership, 'm', ['userId', 'workspaceId', 'role']);
const USER = columns(User, 'u', ['email', 'kind']);
const WORKSPACE = columns(Workspace, 'w', ['slug', 'plan', 'transparency']);

type KeyRow = Json<typeof KEY.row & typeof MEMBERSHIP.row & typeof USER.row & typeof WORKSPACE.row> & {
  /** In hexadecimal digits. */
  storedDigest: string;
  revoked: boolean;
  expired: boolean;
  userName: string;
  workspaceName: string;
};

// One look through unique indexes for key, membership, user and workspace; not cached, so that an end works at once.
const LOOK_UP = sql`
SELECT ${KEY}, ${MEMBERSHIP}, ${USER}, ${WORKSPACE}, u.name AS "userName", w.name AS "workspaceName",
       encode(k.digest, 'hex') AS "storedDigest", k.revoked_at IS NOT NULL AS revoked,
       coalesce(k.expires_at <= now(), false) AS expired
FROM api_keys k
JOIN memberships m USING (workspace_id, user_id)
JOIN users u ON u.id = k.user_id
JOIN workspaces w ON w.id = k.workspace_id
WHERE k.digest = ${bytes('digest')}`.jsonRows<KeyRow>();

/** 401 for a key that was revoked or has expired: the client learns no more than of an unknown one, the audit log whose it was. */
export class EndedKeyError extends ApiError {
  readonly key: { keyId: string; actorId: string; workspaceId: string };

  constructor(
    code: 'invalid_credential' | 'expired_credential',
    message: string,
    { id, userId, workspaceId }: Pick<KeyRow, 'id' | 'userId' | 'workspaceId'>,
  ) {
    super(code, message);
    this.key = { keyId: id, actorId: userId, workspaceId };
  }
}

/** Who a key stands for. */
@Injectable()
export class CredentialsService {
  private readonly pepper: Buffer;

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    private readonly extensions: ExtensionSet,
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
    const [row] = await this.database.read.run(LOOK_UP({ digest }));
    if (row === undefined || !timingSafeEqual(Buffer.from(row.storedDigest, 'hex'), digest)) throw invalidCredential();
    if (row.revoked) throw new EndedKeyError('invalid_credential', INVALID, row);
    if (row.expired)
      throw new EndedKeyError('expired_credential', 'The credential has expired; ask for a new key.', row);
    return contextOf(row, this.extensions.scopes);
  }
}

const INVALID = 'The credential is not valid: it is mistyped, unknown or was ended.';

function invalidCredential(): ApiError {
  return new ApiError('invalid_credential', INVALID);
}

/** @param known the scopes that exist: a key may have one of an extension that is there no more, which allows nothing. */
function contextOf(row: KeyRow, known: readonly Scope[]): AuthContext {
  return new AuthContext({
    user: { id: row.userId, name: row.userName, email: row.email },
    workspace: {
      id: row.workspaceId,
      name: row.workspaceName,
      slug: row.slug,
      plan: row.plan,
      exposed: row.transparency,
    },
    role: row.role,
    scopes: row.scopes.filter((scope) => known.includes(scope)),
    credentialType: row.kind === 'service' ? 'service' : 'personal_api_key',
    credential: {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      createdAt: new Date(row.createdAt),
      expiresAt: row.expiresAt === null ? null : new Date(row.expiresAt),
    },
  });
}
