import { Controller, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { z } from 'zod';
import { Endpoint } from '../../platform/http/endpoint.js';
import { uploadSchema, uploadView } from './file.view.js';
import { UploadsService } from './uploads.service.js';

@Controller('v1/uploads')
export class UploadsController {
  constructor(private readonly uploads: UploadsService) {}

  @Post()
  @Endpoint({
    summary: 'Upload a file',
    description: 'Makes no durable file until a task or message refers to it, within 24 hours.',
    policy: 'file_upload',
    stores: 'file',
    scopes: ['files:write'],
    body: 'stream',
    location: '/v1/uploads/{upload.id}',
    answer: z.strictObject({ upload: uploadSchema }),
  })
  async create(@Auth() auth: AuthContext, @Req() request: Request) {
    return { upload: uploadView(await this.uploads.create(auth, request)) };
  }
}
