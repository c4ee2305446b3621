import { Controller, Delete, Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Env } from '../../platform/config/env.js';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { originOf } from '../../platform/http/origin.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { contentAnswers, sendContent } from './file-content.js';
import { fileSchema, fileView } from './file.view.js';
import { ListFilesQuery } from './files.dto.js';
import { FilesService } from './files.service.js';
import { FileStorage } from './storage/file-storage.js';

@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly storage: FileStorage,
    private readonly env: Env,
  ) {}

  @Get()
  @Endpoint({
    summary: 'List the files of deleted projects',
    description: 'Newest first; those that the caller uploaded, for owners and admins all.',
    policy: 'resource_read',
    scopes: ['files:read'],
    answer: pageSchema('files', fileSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListFilesQuery) page: PageRequest<ListFilesQuery>, @Req() req: Request) {
    const { rows, nextCursor } = await this.files.pageUngrouped(auth, page);
    const origin = originOf(req, this.env);
    return { files: rows.map((row) => fileView(row, origin)), nextCursor };
  }

  @Delete(':fileId')
  @Endpoint({
    summary: 'Delete a file of a deleted project',
    description: 'For good. Any other file is in use.',
    policy: 'resource_write',
    scopes: ['files:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('fileId') fileId: string) {
    await this.files.removeUngrouped(auth, tx, fileId);
    return { deleted: true, id: fileId.toLowerCase() };
  }

  @Get(':fileId')
  @Endpoint({
    summary: 'Read about a file',
    policy: 'resource_read',
    scopes: ['files:read'],
    answer: z.strictObject({ file: fileSchema }),
  })
  async get(@Auth() auth: AuthContext, @Param('fileId') fileId: string, @Req() request: Request) {
    return { file: fileView(await this.files.get(auth, fileId), originOf(request, this.env)) };
  }

  @Get(':fileId/content')
  @Endpoint({
    summary: 'Download a file',
    description:
      'Takes one `Range`; `If-None-Match` and `If-Match` with the `ETag`, `If-Modified-Since` and `If-Unmodified-Since` with `Last-Modified`.',
    policy: 'resource_read',
    scopes: ['files:read'],
    answer: contentAnswers({
      ETag: 'The SHA-256 of the content.',
      'Last-Modified': 'When the file was made; it never changes.',
    }),
    errors: [412, 416],
  })
  async content(
    @Auth() auth: AuthContext,
    @Param('fileId') fileId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.files.get(auth, fileId);
    await sendContent(request, response, file, (range) => this.storage.open(file.workspaceId, file.sha256, range));
  }
}
