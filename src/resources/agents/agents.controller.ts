import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { PeriodQuery } from '../billing/billing.dto.js';
import { ChangeAgentDto, CreateAgentDto, ListAgentsQuery } from './agent.dto.js';
import { agentAnswer, agentSchema, agentView, versionAnswer, versionSchema, versionView } from './agent.view.js';
import { statsAnswer, statsView } from './stats.view.js';
import { AgentsService } from './agents.service.js';

const READS = { policy: 'resource_read', scopes: ['projects:read'] } as const;
const WRITES = { policy: 'resource_write', scopes: ['projects:write'], transaction: true } as const;

@Controller('v1/agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List agents',
    description:
      'Newest first: those of the workspace, each as its newest version. Without `archived` those that are not archived.',
    answer: pageSchema('agents', agentSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListAgentsQuery) page: PageRequest<ListAgentsQuery>) {
    const { rows, nextCursor } = await this.agents.list(auth, page);
    return { agents: rows.map(agentView), nextCursor };
  }

  @Post()
  @Endpoint({
    ...WRITES,
    summary: 'Create an agent',
    description:
      'A way of working under a name, which tasks and automations take. At most 100 in a workspace. A slug that is taken is 409 `agent_exists`.',
    stores: true,
    idempotency: 'optional',
    location: '/v1/agents/{agent.slug}',
    answer: agentAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateAgentDto) {
    return { agent: agentView(await this.agents.create(auth, tx, body)) };
  }

  @Get(':slug')
  @Endpoint({ ...READS, summary: 'Read an agent', answer: agentAnswer })
  async get(@Auth() auth: AuthContext, @Param('slug') slug: string) {
    return { agent: agentView(await this.agents.get(auth, slug)) };
  }

  @Patch(':slug')
  @Endpoint({
    ...WRITES,
    summary: 'Change an agent',
    description:
      'By who made it, an owner or an admin. `version` is the newest one as the caller knows it; another one is 409 `version_conflict`. What is given is replaced, lists and objects as a whole. What changes its definition makes the next version; tasks keep theirs. `archived: true` is 409 `agent_in_use` while an active automation names it.',
    stores: true,
    idempotency: 'optional',
    answer: agentAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('slug') slug: string,
    @Body() body: ChangeAgentDto,
  ) {
    return { agent: agentView(await this.agents.change(auth, tx, slug, body)) };
  }

  @Get(':slug/stats')
  @Endpoint({
    ...READS,
    summary: 'Compare the versions of an agent',
    description:
      'What the tasks came to that were made in a period of at most 366 days, of each version that has any, the newest first. Of tasks that the caller sees, as they are now.',
    answer: statsAnswer,
  })
  async stats(@Auth() auth: AuthContext, @Param('slug') slug: string, @Query() query: PeriodQuery) {
    return statsView(await this.agents.stats(auth, slug, query));
  }

  @Get(':slug/versions')
  @Endpoint({
    ...READS,
    summary: 'List the versions of an agent',
    description: 'Newest first.',
    answer: pageSchema('versions', versionSchema),
  })
  async versions(@Auth() auth: AuthContext, @Param('slug') slug: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.agents.versions(auth, slug, page);
    return { versions: rows.map(versionView), nextCursor };
  }

  @Get(':slug/versions/:version')
  @Endpoint({ ...READS, summary: 'Read a version of an agent', answer: versionAnswer })
  async version(@Auth() auth: AuthContext, @Param('slug') slug: string, @Param('version') version: string) {
    return { version: versionView(await this.agents.version(auth, slug, version)) };
  }
}
