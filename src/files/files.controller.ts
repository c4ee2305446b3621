import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { Env } from '../config/env.js';
import { Endpoint } from '../http/endpoint.js';
import { originOf } from '../http/origin.js';
import { sendContent } from './file-content.js';
import { fileView } from './file.view.js';
import { FilesService } from './files.service.js';
import { LocalStorage } from './storage/local-storage.js';

@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly storage: LocalStorage,
    private readonly env: Env,
  ) {}

  @Get(':fileId')
  @Endpoint({ policy: 'resource_read', scopes: ['files:read'] })
  async get(@Auth() auth: AuthContext, @Param('fileId') fileId: string, @Req() request: Request) {
    return { file: fileView(await this.files.get(auth, fileId), originOf(request, this.env)) };
  }

  @Get(':fileId/content')
  @Endpoint({ policy: 'resource_read', scopes: ['files:read'] })
  async content(
    @Auth() auth: AuthContext,
    @Param('fileId') fileId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(request, response, await this.files.get(auth, fileId), this.storage);
  }
}
