import { Injectable } from '@nestjs/common';
import { isUuid } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import type { AuthContext, Role } from '../auth/auth-context.js';
import type { AddMemberDto } from './member.dto.js';
import type { MemberRow } from './memberships.sql.js';
import { MembershipsService } from './memberships.service.js';
import { UsersService } from './users.service.js';

/** Whom an id names that is none. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What owners and admins do with the members of their workspace (reference §3). */
@Injectable()
export class MembersService {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly users: UsersService,
  ) {}

  /**
   * Adds the person who has an address, and makes the account when there is none. Throws 403 `role_not_allowed` and 409
   * `member_exists`: a role is changed by {@link change} alone.
   */
  async add(auth: AuthContext, tx: UnitOfWork, { email, name, role }: AddMemberDto): Promise<MemberRow> {
    auth.requireOwnerFor(role);
    const { workspaceId } = auth;
    const user = await this.users.withAddress({ actorId: auth.userId, keyId: auth.credential.id }, tx, email, name);
    // Before the account is held: that of the caller may be on its way out, which waits for this request.
    const joined = user.id !== auth.userId && (await this.memberships.join(tx, workspaceId, user.id, role));
    if (!joined) {
      throw new ApiError('member_exists', `${email} is a member of this workspace already.`, { param: 'email' });
    }
    return this.memberships.one(tx, workspaceId, user.id);
  }

  /** Throws 403 `role_not_allowed`, 404 and 409 `last_owner`. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, role: Role): Promise<MemberRow> {
    const userId = idOf(id);
    await this.memberships.changeRole(tx, auth.workspaceId, userId, role, { by: auth });
    return this.memberships.one(tx, auth.workspaceId, userId);
  }

  /**
   * Ends a membership with all its keys, for good. What the member owns goes to `transferTo`, or stays, and what it has under way ends.
   * Throws as `MembershipsService.leave`.
   */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string, transferTo: string | null): Promise<void> {
    const heirId = transferTo === null ? null : isUuid(transferTo) ? transferTo.toLowerCase() : NOBODY;
    await this.memberships.leave(tx, auth.workspaceId, idOf(id), heirId, { by: auth });
  }
}

function idOf(id: string): string {
  if (!isUuid(id)) throw notFound('member');
  return id.toLowerCase();
}
