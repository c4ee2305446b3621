import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import { contentAnswers, sendContent } from '../files/file-content.js';
import { folderEntrySchema, folderEntryView, snapshotSchema, snapshotView } from './snapshot.view.js';
import { ListWorkdirQuery, WorkdirContentQuery } from './snapshots.dto.js';
import { SnapshotsService } from './snapshots.service.js';

const folderAnswer = pageSchema('entries', folderEntrySchema).extend({ snapshot: snapshotSchema.nullable() });

@Controller('v1/tasks/:taskId')
export class SnapshotsController {
  constructor(private readonly snapshots: SnapshotsService) {}

  @Get('snapshots')
  @Endpoint({
    summary: 'List the snapshots of a task',
    description: 'Newest first: the last one of each of the last 20 turns.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('snapshots', snapshotSchema),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.snapshots.list(auth, taskId, page);
    return { snapshots: rows.map(snapshotView), nextCursor };
  }

  @Get('workdir')
  @Endpoint({
    summary: 'List a folder of a task',
    description:
      'As a snapshot has it: a running task shows its last one. By the bytes of the names; links are not followed.',
    policy: 'resource_read',
    scopes: ['tasks:read', 'files:read'],
    answer: folderAnswer,
  })
  async folder(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Page(ListWorkdirQuery) page: PageRequest<ListWorkdirQuery>,
  ): Promise<z.output<typeof folderAnswer>> {
    const { rows, nextCursor, snapshot, within } = await this.snapshots.folder(auth, taskId, page);
    const entries = rows.map((entry) => folderEntryView(within, entry));
    return { entries, snapshot: snapshot === null ? null : snapshotView(snapshot), nextCursor };
  }

  @Get('workdir/content')
  @Endpoint({
    summary: 'Download a file of the folder of a task',
    description: 'As a snapshot has it, with ranges and preconditions as of any other file.',
    policy: 'resource_read',
    scopes: ['tasks:read', 'files:read'],
    answer: contentAnswers({
      ETag: 'A SHA-256: of the content; of a sparse file also of where its bytes lie.',
      'Last-Modified': 'When the snapshot was taken.',
    }),
    errors: [412, 416],
  })
  async content(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Query() query: WorkdirContentQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { open, ...file } = await this.snapshots.content(auth, taskId, query);
    await sendContent(request, response, file, async (range) => ({ stream: await open(range) }));
  }
}
