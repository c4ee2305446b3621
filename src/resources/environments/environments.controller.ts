import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeEnvironmentDto, CreateEnvironmentDto } from './environment.dto.js';
import {
  buildSchema,
  buildView,
  environmentAnswer,
  environmentSchema,
  environmentView,
  versionAnswer,
  versionSchema,
  versionView,
} from './environment.view.js';
import { EnvironmentsService } from './environments.service.js';

const READS = { policy: 'resource_read', scopes: ['projects:read'] } as const;
const WRITES = { policy: 'resource_write', scopes: ['projects:write'], transaction: true } as const;
const WHO = 'With a personal key of an owner or admin; else 403 `role_not_allowed`.';

@Controller('v1/environments')
export class EnvironmentsController {
  constructor(private readonly environments: EnvironmentsService) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List environments',
    description: 'Newest first: those of the workspace, each as its newest version.',
    answer: pageSchema('environments', environmentSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.environments.list(auth, page);
    return { environments: rows.map(environmentView), nextCursor };
  }

  @Post()
  @Endpoint({
    ...WRITES,
    summary: 'Create an environment',
    description: `${WHO} At most 50 in a workspace. A slug that is taken is 409 \`environment_exists\`, a host that the operator does not allow 400 \`host_not_allowed\`.`,
    stores: true,
    idempotency: 'optional',
    location: '/v1/environments/{environment.slug}',
    answer: environmentAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateEnvironmentDto) {
    return { environment: environmentView(await this.environments.create(auth, tx, body)) };
  }

  @Get(':slug')
  @Endpoint({ ...READS, summary: 'Read an environment', answer: environmentAnswer })
  async get(@Auth() auth: AuthContext, @Param('slug') slug: string) {
    return { environment: environmentView(await this.environments.get(auth, slug)) };
  }

  @Patch(':slug')
  @Endpoint({
    ...WRITES,
    summary: 'Change an environment',
    description: `${WHO} What is given is replaced, lists and objects as a whole. Another definition is the next version; tasks keep theirs. A new name, and \`{}\`, are none.`,
    stores: true,
    answer: environmentAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('slug') slug: string,
    @Body() body: ChangeEnvironmentDto,
  ) {
    return { environment: environmentView(await this.environments.change(auth, tx, slug, body)) };
  }

  @Delete(':slug')
  @Endpoint({
    ...WRITES,
    summary: 'Delete an environment',
    description: `${WHO} Its versions and builds go with it; tasks that have ended, and projects, have none then. While a task that has not ended works in it: 409 \`environment_in_use\`.`,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('slug') slug: string) {
    return { deleted: true, id: await this.environments.remove(auth, tx, slug) };
  }

  @Get(':slug/versions')
  @Endpoint({
    ...READS,
    summary: 'List the versions of an environment',
    description: 'Newest first.',
    answer: pageSchema('versions', versionSchema),
  })
  async versions(@Auth() auth: AuthContext, @Param('slug') slug: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.environments.versions(auth, slug, page);
    return { versions: rows.map(versionView), nextCursor };
  }

  @Get(':slug/versions/:version')
  @Endpoint({ ...READS, summary: 'Read a version of an environment', answer: versionAnswer })
  async version(@Auth() auth: AuthContext, @Param('slug') slug: string, @Param('version') version: string) {
    return { version: versionView(await this.environments.version(auth, slug, version)) };
  }

  @Get(':slug/builds')
  @Endpoint({
    ...READS,
    summary: 'List the builds of an environment',
    description: 'Newest first, each with the last 16 KiB of what its commands wrote.',
    answer: pageSchema('builds', buildSchema),
  })
  async builds(@Auth() auth: AuthContext, @Param('slug') slug: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.environments.builds(auth, slug, page);
    return { builds: rows.map(buildView), nextCursor };
  }
}
