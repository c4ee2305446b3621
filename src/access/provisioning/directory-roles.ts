import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { Role } from '../auth/auth-context.js';
import { rolesOf } from '../sign-in/person.js';
import { MembershipsService } from '../workspaces/memberships.service.js';
import { recorded, type DirectoryRequest } from './directory-request.js';
import { GROUPS_OF, STANDINGS } from './scim.sql.js';

/** Of whom no rule says anything: a directory tells of those who are to work here. */
const WITHOUT_RULE: Role = 'member';

/** Which roles the rules of `signIn.workspaces` give to people by their groups and the domains of their addresses (reference §31). */
@Injectable()
export class DirectoryRoles {
  constructor(
    private readonly env: Env,
    private readonly memberships: MembershipsService,
  ) {}

  /** The role of a person who becomes a member. */
  async of(tx: UnitOfWork, request: DirectoryRequest, id: string, email: string): Promise<Role> {
    const groups = (await tx.run(GROUPS_OF({ id }))).map(({ displayName }) => displayName);
    return this.byRule(request, { email, groups });
  }

  /** Gives members whose groups have changed the role that is theirs now; a membership of the operator's making stays as it is. */
  async adjust(tx: UnitOfWork, request: DirectoryRequest, people: readonly string[]): Promise<void> {
    if (people.length === 0) return;
    const { workspaceId } = request;
    for (const { userId, role, ...person } of await tx.run(STANDINGS({ workspaceId, people }))) {
      const wanted = this.byRule(request, person);
      if (wanted === role || role === 'owner') continue;
      await this.memberships.changeRole(tx, workspaceId, userId, wanted);
      await recorded(tx, request, 'member.change', { type: 'user', id: userId });
    }
  }

  private byRule({ slug }: DirectoryRequest, person: { email: string | null; groups: readonly string[] }): Role {
    return rolesOf(person, this.env.file.signIn?.workspaces ?? []).get(slug) ?? WITHOUT_RULE;
  }
}
