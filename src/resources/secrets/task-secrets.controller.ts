import { Controller, Get, Param } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { notFound } from '../../platform/http/api-error.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { idSchema, named, timestampSchema } from '../../platform/http/schema.js';
import { SEEN } from '../tasks/task.sql.js';
import { USES } from './secret-uses.sql.js';

const useSchema = named(
  'SecretUse',
  z.strictObject({
    secretId: idSchema.describe('It may be deleted by now.'),
    name: z.string(),
    host: z.string(),
    requests: z.int().min(0).describe('That had the value.'),
    refused: z.int().min(0).describe('That had the placeholder where it may not stand.'),
    masked: z
      .int()
      .min(0)
      .describe('How often an answer had the value, and the task read `[secret NAME]` in its place.'),
    firstAt: timestampSchema,
    lastAt: timestampSchema,
  }),
  { description: 'What a task did with a secret at one host.' },
);

/** Which secrets a task used, and where (reference §24). */
@Controller('v1/tasks/:taskId/secrets')
export class TaskSecretsController {
  constructor(private readonly database: Database) {}

  @Get()
  @Endpoint({
    summary: 'List the uses of secrets by a task',
    description: 'By name and host, all of them. They are some seconds old while the task runs.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: named('SecretUsesResponse', z.strictObject({ uses: z.array(useSchema) })),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string) {
    const seen = isUuid(taskId) && (await this.database.read.run(SEEN({ auth, id: taskId }))).length > 0;
    if (!seen) throw notFound('task');
    const uses = await this.database.read.run(USES({ taskId }));
    return {
      uses: uses.map((use) => ({ ...use, firstAt: use.firstAt.toISOString(), lastAt: use.lastAt.toISOString() })),
    };
  }
}
