import { type CanActivate, Controller, type ExecutionContext, Get, Injectable, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { Endpoint, SCOPES } from '../../platform/http/endpoint.js';
import { isUuid } from '../../platform/database/ids.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth, authOf } from '../auth/auth.decorator.js';
import { Page } from '../auth/page.decorator.js';
import { INSTALLATION } from './audit-entry.entity.js';
import { AuditReader } from './audit-reader.js';
import { ListAuditQuery } from './audit.dto.js';
import { momentOf } from '../../platform/text/instant.js';
import { auditEntrySchema, auditEntryView } from './audit.view.js';

/** 403 but for a key with all ten scopes of an owner or admin: the log shows what everybody did, everywhere in the workspace. */
@Injectable()
class AuditGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const auth = authOf(context.switchToHttp().getRequest<Request>());
    for (const scope of SCOPES) auth.require(scope);
    if (auth.seesEverything) return true;
    throw new ApiError('role_not_allowed', 'Only an owner or admin of the workspace reads its audit log.');
  }
}

@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditReader) {}

  @Get()
  @UseGuards(AuditGuard)
  @Endpoint({
    summary: 'List the audit log',
    description:
      'Who did what in the workspace, or was refused, newest first. For owners and admins, with all ten scopes.',
    policy: 'resource_read',
    scopes: 'personal',
    answer: pageSchema('entries', auditEntrySchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListAuditQuery) page: PageRequest<ListAuditQuery>) {
    const { since = '', until = '', actor, action } = page.query;
    // An id that is none is nobody's, and neither is this one.
    const user = actor === undefined || isUuid(actor) ? actor : INSTALLATION;
    const filter = { since: momentOf(since), until: momentOf(until), actor: user ?? null, action: action ?? '' };
    const found = await this.log.list(auth.workspaceId, filter, page.limit + 1, page.after);
    const { rows, nextCursor } = page.cut(found, ({ at, id }) => [at.toISOString(), id]);
    return { entries: rows.map(auditEntryView), nextCursor };
  }
}
