import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { lockMembers } from '../workspaces/lock-members.js';
import { MembershipsService } from '../workspaces/memberships.service.js';
import type { AuthContext } from './auth-context.js';
import { consoleHindrance, consoleLink } from './console-address.js';
import { ConsoleSessions } from './console-sessions.js';
import { CredentialsService } from './credentials.service.js';
import { STANDING, WITHDRAW } from './invitations.sql.js';
import { insertKey, requireKeysOfPeople } from './key-rules.js';

const LIFETIME_MS = 72 * 3_600_000;
/** The name of the key. The console knows a session by it, and asks for a key of one's own. */
const NAME = 'Invitation';
/** Where the member makes a key. */
const PAGE = 'settings?part=keys';

/** How a member gets in. The code exists in this one answer. */
export interface Invitation {
  /** Null where the service does not know by which address people reach it. */
  url: string | null;
  code: string;
  expiresAt: Date;
}

/** Lets a member log in to the console who never could (reference §3). */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly env: Env,
    private readonly memberships: MembershipsService,
    private readonly sessions: ConsoleSessions,
    private readonly credentials: CredentialsService,
    private readonly extensions: ExtensionSet,
  ) {}

  /**
   * Makes a link that logs in once, as a person who has no key; one that was made before is dead then. Throws 403 `role_not_allowed` for an
   * admin and an owner, 404, 409 `member_has_keys` and 409 `console_not_available`.
   */
  async create(auth: AuthContext, tx: UnitOfWork, memberId: string): Promise<Invitation> {
    requireKeysOfPeople(this.env);
    const { workspaceId } = auth;
    const { userId, kind, name } = await this.memberships.one(tx, workspaceId, memberId);
    if (kind === 'service') throw new ApiError('not_found', 'This is a service account: make a key of it instead.');
    // From here on nobody makes a key of the member, and its role stays.
    const role = (await lockMembers(tx, workspaceId, { [userId]: 'change' }, auth.userId)).get(userId);
    if (role === undefined) throw notFound('member');
    auth.requireOwnerFor(role);
    const hindrance = consoleHindrance(this.env);
    if (hindrance !== null) throw new ApiError('console_not_available', hindrance);
    await tx.run(WITHDRAW({ workspaceId, userId }));
    const [standing] = await tx.run(STANDING({ workspaceId, userId }));
    if (standing === undefined) throw new Error('A statement that always has a row had none.');
    if (standing.hasKeys) throw hasKeys(name);
    const expiresAt = new Date(standing.now.getTime() + LIFETIME_MS);
    const wanted = {
      workspaceId,
      userId,
      name: NAME,
      scopes: [...this.extensions.scopes],
      expiresAt,
      invitation: 'open' as const,
    };
    // Its secret is given to nobody: the key is for the one session.
    const { key } = await insertKey(tx, this.credentials, 'person', wanted);
    const code = await this.sessions.addCodeOf(tx, key.id, expiresAt);
    return { url: consoleLink(this.env, code, PAGE), code, expiresAt };
  }
}

function hasKeys(name: string): ApiError {
  const message = `${name} has logged in or has a key: a further link could be used in the name of ${name}, who alone makes keys from now on. Where they are lost, the operator makes one by 'key create'.`;
  return new ApiError('member_has_keys', message);
}
