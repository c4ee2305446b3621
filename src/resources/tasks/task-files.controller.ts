import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Env } from '../../platform/config/env.js';
import { ARCHIVE_ANSWERS, sendArchive } from '../files/file-archive.js';
import { fileSchema, fileView } from '../files/file.view.js';
import { FilesService } from '../files/files.service.js';
import { FileStorage } from '../files/storage/file-storage.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { originOf } from '../../platform/http/origin.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import { TaskAccess } from './task-access.js';

@Controller('v1/tasks/:taskId/files')
export class TaskFilesController {
  constructor(
    private readonly tasks: TaskAccess,
    private readonly files: FilesService,
    private readonly storage: FileStorage,
    private readonly env: Env,
  ) {}

  @Get()
  @Endpoint({
    summary: 'List the files of a task',
    description: 'Attachments and files that the agent published, newest first.',
    policy: 'resource_read',
    scopes: ['tasks:read', 'files:read'],
    answer: pageSchema('files', fileSchema),
  })
  async list(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Page(PageQuery) page: PageRequest,
    @Req() req: Request,
  ) {
    const { rows, nextCursor } = await this.files.pageOfTask(auth, taskId, page);
    // Without a row the task has no file, or the caller does not see it.
    if (rows.length === 0) await this.tasks.check(auth, taskId);
    const origin = originOf(req, this.env);
    return { files: rows.map((row) => fileView(row, origin)), nextCursor };
  }

  @Get('archive')
  @Endpoint({
    summary: 'Download the files of a task',
    description:
      'All of them as one zip, oldest first, attachments below `attachments/`. Equal names get ` (2)`. The files are stored as they are.',
    policy: 'resource_read',
    scopes: ['tasks:read', 'files:read'],
    answer: ARCHIVE_ANSWERS,
  })
  async archive(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Req() req: Request,
    @Res() res: Response,
  ): Promise<void> {
    await sendArchive(req, res, await this.files.ofArchive(auth, taskId), this.storage);
  }
}
