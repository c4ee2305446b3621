import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { doubleOrNull, sql, uuid } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { instantOf } from '../../platform/text/instant.js';
import type { AuthContext } from './auth-context.js';
import { CredentialsService } from './credentials.service.js';
import type { CreateKeyDto } from './key.dto.js';
import {
  checkAhead,
  checkKnown,
  insertKey,
  invalidEnd,
  KEY,
  LISTED,
  LIVE,
  MOST_KEYS,
  type OwnKeyRow,
  requireKeysOfPeople,
  shown,
} from './key-rules.js';
import { USER, WORKSPACE } from './visibility.js';

// Locks are taken in the order membership, keys by id.

const LIVE_OF_CALLER = sql`k.workspace_id = ${WORKSPACE} AND k.user_id = ${USER} AND ${LIVE}`;

/** Newest first. */
const LIST = sql`
SELECT ${KEY} FROM api_keys k WHERE ${LIVE_OF_CALLER} AND ${LISTED} ORDER BY k.created_at DESC, k.id DESC`.rows<OwnKeyRow>();

/**
 * Lets the changes of one member's keys follow each other. Requests that only hold the membership do not wait for it, and its
 * removal comes before or after.
 */
const TAKE_TURN = sql`
SELECT 1 FROM memberships WHERE workspace_id = ${WORKSPACE} AND user_id = ${USER} FOR NO KEY UPDATE`.rows();

/** For a caller who has the turn. The operator's revocation comes before, and then the key is not among them, or after. */
const LOCK_LIVE = sql`
SELECT ${KEY}, ${LISTED} AS listed, clock_timestamp() AS "askedAt" FROM api_keys k WHERE ${LIVE_OF_CALLER} ORDER BY k.id FOR UPDATE`.rows<
  OwnKeyRow & { listed: boolean; askedAt: Date }
>();

/** Lets a key work for some seconds more, but not longer than it would have. */
const EXPIRE = sql`
UPDATE api_keys SET expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${doubleOrNull('seconds')}))
WHERE id = ${uuid('id')}`.rows();

const REVOKE = sql`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = ${uuid('id')}`.rows();

/** A key with its secret, which exists in this one answer. */
export interface MadeKey {
  key: OwnKeyRow;
  secret: string;
}

interface Held {
  /** The key that asks. */
  calling: OwnKeyRow;
  /** The live keys of the caller in the workspace, without those of sessions. */
  live: OwnKeyRow[];
  /** By the clock of the database. */
  now: Date;
}

/**
 * What a person does with the own keys of one workspace (reference §3). Nothing here gives more than the calling key has: no
 * further scope, no later end, no hold of a key that has more.
 */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly credentials: CredentialsService,
    private readonly extensions: ExtensionSet,
  ) {}

  /** The live keys, newest first. */
  async list(auth: AuthContext): Promise<OwnKeyRow[]> {
    return (await this.database.read.run(LIST({ auth }))).map((row) => shown(row, this.extensions.scopes));
  }

  /** Throws 400 `invalid_field`, 403 `missing_scope`, 409 `too_many_keys`. */
  async create(auth: AuthContext, tx: UnitOfWork, { name, scopes, expiresAt }: CreateKeyDto): Promise<MadeKey> {
    requireKeysOfPeople(this.env);
    this.checkScopes(auth, scopes);
    const { calling, live, now } = await hold(auth, tx);
    const end = expiresAt === undefined ? calling.expiresAt : expiresAt === null ? null : instantOf(expiresAt);
    checkEnd(end, calling.expiresAt, now);
    checkCount(live.length + 1);
    return this.insert(auth, tx, { name, scopes, expiresAt: end });
  }

  /**
   * Makes a key with the name, scopes and end of another, which then ends: at once, or after `overlapSeconds`. Throws 403
   * `missing_scope`, 404, 409 `too_many_keys`.
   */
  async rotate(auth: AuthContext, tx: UnitOfWork, id: string, overlapSeconds: number): Promise<MadeKey> {
    requireKeysOfPeople(this.env);
    const { live, key } = await holdOne(auth, tx, id);
    if (overlapSeconds === 0) await tx.run(REVOKE({ id: key.id }));
    else {
      checkCount(live.length + 1);
      await tx.run(EXPIRE({ id: key.id, seconds: overlapSeconds }));
    }
    return this.insert(auth, tx, key);
  }

  /** Ends a key from the next request on. Throws 403 `missing_scope`, 404. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const { key } = await holdOne(auth, tx, id);
    await tx.run(REVOKE({ id: key.id }));
  }

  private async insert(
    auth: AuthContext,
    tx: UnitOfWork,
    { name, scopes, expiresAt }: Pick<OwnKeyRow, 'name' | 'scopes' | 'expiresAt'>,
  ): Promise<MadeKey> {
    const { workspaceId, userId } = auth;
    const wanted = { workspaceId, userId, name, scopes, expiresAt };
    const { key, secret } = await insertKey(tx, this.credentials, 'person', wanted);
    return { key: shown(key, this.extensions.scopes), secret };
  }

  private checkScopes(auth: AuthContext, scopes: readonly Scope[]): void {
    checkKnown(scopes, this.extensions.scopes);
    for (const scope of scopes) auth.require(scope);
  }
}

/**
 * Waits for its turn among the changes of the caller's keys, and locks the live ones. Throws 401 when the calling key has ended
 * meanwhile: what a key makes is made before its end.
 */
async function hold(auth: AuthContext, tx: UnitOfWork): Promise<Held> {
  await tx.runWithNext(TAKE_TURN({ auth }));
  const all = await tx.run(LOCK_LIVE({ auth }));
  const calling = all.find(({ id }) => id === auth.credential.id);
  if (calling === undefined) throw new ApiError('invalid_credential', 'The credential was ended at the same moment.');
  return { calling, live: all.filter(({ listed }) => listed), now: calling.askedAt };
}

/** As {@link hold}, for one of the keys: the calling one, or one that allows no more. */
async function holdOne(auth: AuthContext, tx: UnitOfWork, id: string): Promise<Held & { key: OwnKeyRow }> {
  const held = await hold(auth, tx);
  const key = held.live.find((one) => one.id === id.toLowerCase());
  if (key === undefined) throw notFound('key');
  if (key !== held.calling) checkWithin(key, held.calling);
  return { ...held, key };
}

function checkWithin(key: OwnKeyRow, calling: OwnKeyRow): void {
  const scope = key.scopes.find((one) => !calling.scopes.includes(one));
  if (scope !== undefined) {
    throw new ApiError('missing_scope', `This key has the scope ${scope}, which the credential lacks.`);
  }
  if (isLater(key.expiresAt, calling.expiresAt)) {
    throw new ApiError('missing_scope', 'This key ends later than the credential; take one that does not end before.');
  }
}

function checkEnd(end: Date | null, latest: Date | null, now: Date): void {
  checkAhead(end, now);
  if (latest !== null && isLater(end, latest)) {
    throw invalidEnd(`expiresAt must not be after ${latest.toISOString()}, when the calling key ends.`);
  }
}

/** Null is never. */
function isLater(end: Date | null, than: Date | null): boolean {
  return than !== null && (end === null || end > than);
}

function checkCount(count: number): void {
  if (count <= MOST_KEYS) return;
  throw new ApiError(
    'too_many_keys',
    `You have ${MOST_KEYS} keys in this workspace, which is the most; delete one first.`,
  );
}
