import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { recordAct } from '../audit/record.js';
import { wayOf } from '../audit/sender.js';
import type { Role } from '../auth/auth-context.js';
import { Membership } from '../workspaces/membership.entity.js';
import { MembershipsService } from '../workspaces/memberships.service.js';
import { MEMBERSHIPS, WORKSPACES } from './accounts.sql.js';
import { strongerOf } from './person.js';

/** A workspace that somebody may enter. */
export interface Place {
  workspaceId: string;
  slug: string;
}

/** Memberships as the rules of `signIn` have them (reference §31). */
@Injectable()
export class RuledMemberships {
  constructor(private readonly memberships: MembershipsService) {}

  /**
   * Makes, changes and ends memberships of an account that is held. What the operator, an owner or an admin has given stays, and a rule may raise
   * it as long as it matches; what a rule has made ends with the rule.
   * @param roles by slug, those that the rules give now.
   * @returns where the person is a member after it: first those of the rules, in their order.
   */
  async follow(tx: UnitOfWork, req: Request, userId: string, roles: ReadonlyMap<string, Role>): Promise<Place[]> {
    const places: Place[] = [];
    const changed = (workspaceId: string, action: string) =>
      recordAct(tx, { workspaceId, actorId: userId, keyId: null, ...wayOf(req) }, action, { type: 'user', id: userId });
    const standing = await tx.run(MEMBERSHIPS({ userId }));
    for (const { workspaceId, slug, role, beforeRule } of standing) {
      const given = beforeRule ?? role;
      const meant = strongerOf(given, roles.get(slug) ?? 'none');
      if (meant === 'none') {
        await this.memberships.leave(tx, workspaceId, userId, null);
        await changed(workspaceId, 'member.remove');
        continue;
      }
      places.push({ workspaceId, slug });
      const next = meant === given || given === 'owner' ? null : given;
      if (meant === role && next === beforeRule) continue;
      if (meant !== role) {
        await this.memberships.changeRole(tx, workspaceId, userId, meant);
        await changed(workspaceId, 'member.change');
      }
      await tx.manager.getRepository(Membership).update({ workspaceId, userId }, { beforeRule: next });
    }
    const slugs = [...roles.keys()].filter((slug) => !standing.some((one) => one.slug === slug));
    for (const { id: workspaceId, slug } of slugs.length === 0 ? [] : await tx.run(WORKSPACES({ slugs }))) {
      const joined = await this.memberships.join(tx, workspaceId, userId, roles.get(slug) ?? 'viewer', 'none');
      if (joined) await changed(workspaceId, 'member.add');
      places.push({ workspaceId, slug });
    }
    const order = [...roles.keys()];
    const rank = ({ slug }: Place) => (order.indexOf(slug) < 0 ? order.length : order.indexOf(slug));
    return places.sort((a, b) => rank(a) - rank(b));
  }
}
