import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../../platform/http/endpoint.js';
import { isUuid } from '../../platform/database/ids.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { Page } from '../auth/page.decorator.js';
import { INSTALLATION } from './audit-entry.entity.js';
import { AuditReader } from './audit-reader.js';
import { ListAuditQuery } from './audit.dto.js';
import { momentOf } from '../../platform/text/instant.js';
import { auditEntrySchema, auditEntryView } from './audit.view.js';

@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditReader) {}

  @Get()
  @Endpoint({
    summary: 'List the audit log',
    description: 'Who did what in the workspace, or was refused, newest first.',
    policy: 'resource_read',
    scopes: 'administration',
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
