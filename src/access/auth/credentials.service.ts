import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { bytes, type Json, raw, type Sql, sql, uuid } from '../../platform/database/sql.js';
import { ApiError } from '../../platform/http/api-error.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';
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
const WORKSPACE = columns(Workspace, 'w', ['slug', 'plan', 'transparency', 'defaultAgent']);

type KeyRow = Json<typeof KEY.row & typeof MEMBERSHIP.row & typeof USER.row & typeof WORKSPACE.row> & {
  /** In hexadecimal digits. */
  storedDigest: string;
  revoked: boolean;
  expired: boolean;
  userName: string;
  workspaceName: string;
};

// One look through unique indexes for key, membership, user and workspace; not cached, so that an end works at once.
const FOUND = sql`${KEY}, ${MEMBERSHIP}, ${USER}, ${WORKSPACE}, u.name AS "userName", w.name AS "workspaceName",
       encode(k.digest, 'hex') AS "storedDigest", k.revoked_at IS NOT NULL AS revoked,
       coalesce(k.expires_at <= now(), false) AS expired`;
const OWNER = raw(`
JOIN memberships m USING (workspace_id, user_id)
JOIN users u ON u.id = k.user_id
JOIN workspaces w ON w.id = k.workspace_id`);
const LOOK_UP = sql`SELECT ${FOUND} FROM api_keys k ${OWNER} WHERE k.digest = ${bytes('digest')}`.jsonRows<KeyRow>();
const LOOK_UP_ID = sql`SELECT ${FOUND} FROM api_keys k ${OWNER} WHERE k.id = ${uuid('id')}`.jsonRows<KeyRow>();
/** The same one look, for the key of a session. */
const LOOK_UP_SESSION = sql`
SELECT ${FOUND}, s.expires_at <= now() AS over FROM console_sessions s JOIN api_keys k ON k.id = s.key_id ${OWNER}
WHERE s.hash = ${bytes('hash')}`.jsonRows<KeyRow & { over: boolean }>();

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
  /** What is stored of a key. */
  readonly digest: (key: string) => Buffer;

  constructor(
    private readonly database: Database,
    keys: LastingKeys,
    private readonly extensions: ExtensionSet,
  ) {
    this.digest = keys.mac('api-keys');
  }

  /** Throws 401; an unreachable database is its own error, never a 401. */
  async authenticate(key: string): Promise<AuthContext> {
    if (!isKey(key)) throw invalidCredential();
    const digest = this.digest(key);
    const [row] = await this.database.read.run(LOOK_UP({ digest }));
    if (row === undefined || !timingSafeEqual(Buffer.from(row.storedDigest, 'hex'), digest)) throw invalidCredential();
    return this.contextOf(row);
  }

  /**
   * Who is logged in to the console by a session (reference §20). Throws as {@link authenticate}.
   * @param hash what is stored of the session's id.
   */
  async authenticateSession(hash: Buffer): Promise<AuthContext> {
    const [row] = await this.database.read.run(LOOK_UP_SESSION({ hash }));
    if (row === undefined) throw invalidSession();
    if (row.over) throw new ApiError('expired_credential', 'The session has ended; log in again.');
    return this.contextOf(row, hash);
  }

  /** Who a key stands for, found by the key's id. Throws as {@link authenticate}. */
  async authenticateId(tx: Sql, id: string): Promise<AuthContext> {
    const [row] = await tx.run(LOOK_UP_ID({ id }));
    if (row === undefined) throw invalidCredential();
    return this.contextOf(row);
  }

  private contextOf(row: KeyRow, session: Buffer | null = null): AuthContext {
    if (row.revoked) throw new EndedKeyError('invalid_credential', INVALID, row);
    if (row.expired)
      throw new EndedKeyError('expired_credential', 'The credential has expired; ask for a new key.', row);
    return contextOf(row, session, this.extensions.scopes);
  }
}

/** 401 for the cookie of a session that is not known, or not any more. */
export function invalidSession(): ApiError {
  return new ApiError('invalid_credential', 'There is no such session, or it was ended; log in again.');
}

const INVALID = 'The credential is not valid: it is mistyped, unknown or was ended.';

function invalidCredential(): ApiError {
  return new ApiError('invalid_credential', INVALID);
}

/** @param known the scopes that exist: a key may have one of an extension that is there no more, which allows nothing. */
function contextOf(row: KeyRow, session: Buffer | null, known: readonly Scope[]): AuthContext {
  return new AuthContext({
    user: { id: row.userId, name: row.userName, email: row.email },
    workspace: {
      id: row.workspaceId,
      name: row.workspaceName,
      slug: row.slug,
      plan: row.plan,
      exposed: row.transparency,
      defaultAgent: row.defaultAgent,
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
    session,
  });
}
