import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ChangeProjectDto, CreateProjectDto, ListProjectsQuery } from './project.dto.js';
import { projectAnswer, projectSchema, projectView } from './project.view.js';
import { ProjectsService } from './projects.service.js';

@Controller('v1/projects')
export class ProjectsController {
  constructor(private readonly projects: ProjectsService) {}

  @Get()
  @Endpoint({
    summary: 'List projects',
    description: 'Newest first.',
    policy: 'resource_read',
    scopes: ['projects:read'],
    answer: pageSchema('projects', projectSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListProjectsQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.projects.list(auth, page);
    return { projects: rows.map(projectView), nextCursor };
  }

  @Post()
  @Endpoint({
    summary: 'Create a project',
    policy: 'resource_write',
    stores: true,
    scopes: ['projects:write'],
    transaction: true,
    answer: projectAnswer,
    idempotency: 'optional',
    location: '/v1/projects/{project.id}',
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateProjectDto) {
    return { project: projectView(await this.projects.create(auth, tx, body)) };
  }

  @Get(':projectId')
  @Endpoint({ summary: 'Read a project', policy: 'resource_read', scopes: ['projects:read'], answer: projectAnswer })
  async get(@Auth() auth: AuthContext, @Param('projectId') id: string) {
    return { project: projectView(await this.projects.get(auth, id)) };
  }

  @Patch(':projectId')
  @Endpoint({
    summary: 'Change a project',
    description: 'What is given is replaced; `{}` changes nothing.',
    policy: 'resource_write',
    scopes: ['projects:write'],
    transaction: true,
    answer: projectAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('projectId') id: string,
    @Body() body: ChangeProjectDto,
  ) {
    return { project: projectView(await this.projects.change(auth, tx, id, body)) };
  }

  @Delete(':projectId')
  @Endpoint({
    summary: 'Delete a project',
    description: 'Its tasks and files stay, without a project.',
    policy: 'resource_write',
    scopes: ['projects:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('projectId') id: string) {
    await this.projects.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }
}
