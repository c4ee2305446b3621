import { Controller, Param, Post } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Tx } from '../../platform/http/tx.js';
import type { AuthContext } from './auth-context.js';
import { Auth } from './auth.decorator.js';
import { invitationAnswer, invitationView } from './invitation.view.js';
import { InvitationsService } from './invitations.service.js';

@Controller('v1/members/:memberId/invitation')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  // No Idempotency-Key here: a stored answer would hold the code.
  @Post()
  @Endpoint({
    summary: 'Invite a member',
    description:
      'Makes a link by which a person who has no key logs in to the console, once, within 72 hours, to make one. Another call makes another link, and the one before is dead. Who has logged in or has a key is 409 `member_has_keys`. Only an owner invites an owner.',
    policy: 'resource_write',
    stores: true,
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    action: 'member.invite',
    answer: invitationAnswer,
    location: '/v1/members/:memberId/invitation',
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('memberId') id: string) {
    return invitationView(await this.invitations.create(auth, tx, id));
  }
}
