import { Controller, Delete, Get, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Env } from '../../platform/config/env.js';
import { fileSchema, fileView } from '../files/file.view.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { originOf } from '../../platform/http/origin.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ProjectFilesService } from './project-files.service.js';

@Controller('v1/projects/:projectId/files')
export class ProjectFilesController {
  constructor(
    private readonly files: ProjectFilesService,
    private readonly env: Env,
  ) {}

  @Get()
  @Endpoint({
    summary: "List a project's files",
    description: 'Newest first.',
    policy: 'resource_read',
    scopes: ['projects:read', 'files:read'],
    answer: pageSchema('files', fileSchema),
  })
  async list(
    @Auth() auth: AuthContext,
    @Param('projectId') projectId: string,
    @Page(PageQuery) page: PageRequest,
    @Req() req: Request,
  ) {
    const { rows, nextCursor } = await this.files.list(auth, projectId, page);
    const origin = originOf(req, this.env);
    return { files: rows.map((row) => fileView(row, origin)), nextCursor };
  }

  @Post()
  @Endpoint({
    summary: 'Add a file to a project',
    description:
      'The tasks of the project see it, read-only, in `/project`. One that is sent under the name `skills/NAME/…`, with a path, belongs to a skill: they see it in `/skills`.',
    answer: z.strictObject({ file: fileSchema }),
    policy: 'file_upload',
    stores: 'file',
    scopes: ['projects:write', 'files:write'],
    body: 'stream',
    location: '/v1/files/{file.id}',
  })
  async add(@Auth() auth: AuthContext, @Param('projectId') projectId: string, @Req() req: Request) {
    return { file: fileView(await this.files.add(auth, projectId, req), originOf(req, this.env)) };
  }

  @Delete(':fileId')
  @Endpoint({
    summary: 'Remove a file of a project',
    description: 'For good.',
    policy: 'resource_write',
    scopes: ['projects:write', 'files:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async remove(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('projectId') projectId: string,
    @Param('fileId') fileId: string,
  ) {
    await this.files.remove(auth, tx, projectId, fileId);
    return { deleted: true, id: fileId.toLowerCase() };
  }
}
