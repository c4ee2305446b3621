import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { sql, uuid } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { instantOf } from '../../platform/text/instant.js';
import { lockMembers } from '../workspaces/lock-members.js';
import { ServiceAccountsService } from '../workspaces/service-accounts.service.js';
import type { AuthContext } from './auth-context.js';
import { CredentialsService } from './credentials.service.js';
import type { CreateServiceKeyDto } from './key.dto.js';
import {
  checkAhead,
  checkKnown,
  insertKey,
  KEY,
  LIVE,
  MOST_KEYS,
  type OwnKeyRow,
  requireKeysOfPeople,
  shown,
} from './key-rules.js';
import type { MadeKey } from './own-keys.service.js';
import { WORKSPACE } from './visibility.js';

const LIVE_OF_ACCOUNT = sql`k.workspace_id = ${WORKSPACE} AND k.user_id = ${uuid('accountId')} AND ${LIVE}`;
/** Newest first. */
const LIST = sql`
SELECT ${KEY} FROM api_keys k WHERE ${LIVE_OF_ACCOUNT} ORDER BY k.created_at DESC, k.id DESC`.rows<OwnKeyRow>();
/** How many there are, and the time by the clock of the database. */
const COUNT = sql`
SELECT count(*)::int AS count, clock_timestamp() AS now FROM api_keys k WHERE ${LIVE_OF_ACCOUNT}`.rows<{
  count: number;
  now: Date;
}>();
const REVOKE = sql`
UPDATE api_keys k SET revoked_at = clock_timestamp() WHERE ${LIVE_OF_ACCOUNT} AND k.id = ${uuid('id')} RETURNING k.id`.rows();

/** The keys of a workspace's service accounts, kept by its owners and admins (reference §3). */
@Injectable()
export class ServiceKeysService {
  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly accounts: ServiceAccountsService,
    private readonly credentials: CredentialsService,
    private readonly extensions: ExtensionSet,
  ) {}

  /** The live keys, newest first. Throws 404. */
  async list(auth: AuthContext, account: string): Promise<OwnKeyRow[]> {
    const { id: accountId } = await this.accounts.one(this.database.read, auth.workspaceId, account);
    return (await this.database.read.run(LIST({ auth, accountId }))).map((row) => shown(row, this.extensions.scopes));
  }

  /** Throws 400 `invalid_field`, 403 `role_not_allowed` for an admin and the account of an owner, 404, 409 `too_many_keys`. */
  async create(
    auth: AuthContext,
    tx: UnitOfWork,
    account: string,
    { name, scopes, expiresAt = null }: CreateServiceKeyDto,
  ): Promise<MadeKey> {
    requireKeysOfPeople(this.env);
    checkKnown(scopes, this.extensions.scopes);
    const accountId = await this.hold(auth, tx, account);
    const [live] = await tx.run(COUNT({ auth, accountId }));
    const end = expiresAt === null ? null : instantOf(expiresAt);
    checkAhead(end, live?.now ?? new Date());
    if ((live?.count ?? 0) >= MOST_KEYS) {
      throw new ApiError('too_many_keys', `The account has ${MOST_KEYS} keys, which is the most; delete one first.`);
    }
    const { workspaceId } = auth;
    const wanted = { workspaceId, userId: accountId, name, scopes, expiresAt: end };
    const { key, secret } = await insertKey(tx, this.credentials, 'service', wanted);
    return { key: shown(key, this.extensions.scopes), secret };
  }

  /** Ends a key from the next request on. Throws 403 `role_not_allowed` for an admin and the account of an owner, and 404. */
  async remove(auth: AuthContext, tx: UnitOfWork, account: string, id: string): Promise<void> {
    const accountId = await this.hold(auth, tx, account);
    const ended = isUuid(id) ? await tx.run(REVOKE({ auth, accountId, id })) : [];
    if (ended.length === 0) throw notFound('key');
  }

  /** Lets the changes of one account's keys follow each other; it is not deleted until the end of the transaction. */
  private async hold(auth: AuthContext, tx: UnitOfWork, account: string): Promise<string> {
    const { workspaceId, userId } = auth;
    const { id } = await this.accounts.one(tx, workspaceId, account);
    const role = (await lockMembers(tx, workspaceId, { [id]: 'change' }, userId)).get(id);
    if (role === undefined) throw notFound('service account');
    auth.requireOwnerFor(role);
    return id;
  }
}
