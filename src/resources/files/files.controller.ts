import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Env } from '../../platform/config/env.js';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { originOf } from '../../platform/http/origin.js';
import { CONTENT_ANSWERS, sendContent } from './file-content.js';
import { fileSchema, fileView } from './file.view.js';
import { FilesService } from './files.service.js';
import { FileStorage } from './storage/file-storage.js';

@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly storage: FileStorage,
    private readonly env: Env,
  ) {}

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
    description: 'Takes one `Range`, and `If-None-Match` with the `ETag`.',
    policy: 'resource_read',
    scopes: ['files:read'],
    answer: CONTENT_ANSWERS,
  })
  async content(
    @Auth() auth: AuthContext,
    @Param('fileId') fileId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(request, response, await this.files.get(auth, fileId), this.storage);
  }
}
