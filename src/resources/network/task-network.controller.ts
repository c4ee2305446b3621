import { Controller, Get, Param } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { REFUSALS } from '../../engine/sandbox/network/refusals.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { notFound } from '../../platform/http/api-error.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { named, pageSchema, timestampSchema } from '../../platform/http/schema.js';
import { SEEN } from '../tasks/task.sql.js';
import { PAGE } from './network-uses.sql.js';

const count = z.int().min(0);
const hostSchema = named(
  'NetworkUse',
  z.strictObject({
    host: z.string().describe('A name or an address. `others`, with port 0, sums up hosts beyond the first 500.'),
    port: z.int().min(0).max(65_535),
    connections: count.describe('That were made.'),
    failed: count.describe('That could not be made.'),
    refused: count.describe('Connections, and requests with the placeholder of a secret, that were refused.'),
    refusedFor: z
      .enum(REFUSALS)
      .nullable()
      .describe(
        'Why the last of them was: the host is not among those that may be reached, its address is not public, or a placeholder stood where it may not.',
      ),
    bytesIn: count.describe('To the commands.'),
    bytesOut: count.describe('From the commands.'),
    firstAt: timestampSchema,
    lastAt: timestampSchema,
  }),
  { description: 'What the commands of a task did with one host.' },
);

/** Which hosts a task reached, and which it was refused (reference §4). */
@Controller('v1/tasks/:taskId/network')
export class TaskNetworkController {
  constructor(private readonly database: Database) {}

  @Get()
  @Endpoint({
    summary: 'List the hosts that a task reached or was refused',
    description: 'By host and port. What is counted is some seconds old while the task runs.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('hosts', hostSchema),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string, @Page(PageQuery) page: PageRequest) {
    const seen = isUuid(taskId) && (await this.database.read.run(SEEN({ auth, id: taskId }))).length > 0;
    if (!seen) throw notFound('task');
    const [afterHost = null, port = null] = page.after ?? [];
    const afterPort = port === null ? null : Number(port);
    const found = await this.database.read.run(PAGE({ taskId, afterHost, afterPort, limit: page.limit + 1 }));
    const { rows, nextCursor } = page.cut(found, (row) => [row.host, String(row.port)]);
    const hosts = rows.map((row) => ({
      ...row,
      firstAt: row.firstAt.toISOString(),
      lastAt: row.lastAt.toISOString(),
    }));
    return { hosts, nextCursor };
  }
}
