import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Auth } from '../../../access/auth/auth.decorator.js';
import { Page } from '../../../access/auth/page.decorator.js';
import { CHECK_PHASES, CHECK_STATUSES } from '../../../engine/checks/check.js';
import { Database } from '../../../platform/database/database.js';
import { isUuid } from '../../../platform/database/ids.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { notFound } from '../../../platform/http/api-error.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { byCreation, PageQuery, type PageRequest } from '../../../platform/http/pages.js';
import { idSchema, named, pageSchema, timestampSchema } from '../../../platform/http/schema.js';
import { Tx } from '../../../platform/http/tx.js';
import { TransparencyPolicy } from '../messages/transparency-policy.js';
import { SEEN } from '../task.sql.js';
import { taskAnswer } from '../task.view.js';
import { ChecksAgain } from './checks-again.js';
import { PAGE, type TaskCheckRow } from './task-checks.sql.js';

const count = z.int().min(0);
const checkSchema = named(
  'TaskCheck',
  z.strictObject({
    id: idSchema,
    turn: count,
    round: count.describe('How often the agent had mended its work in this turn by then.'),
    phase: z.enum(CHECK_PHASES).describe('`before`: on the original; `after`: on what the turn came to.'),
    name: z.string(),
    command: z.string().nullable().describe('Null where the workspace shows no tool activity.'),
    required: z.boolean(),
    status: z.enum(CHECK_STATUSES).describe('`error`: it could not be carried out, and says nothing of the work.'),
    exitCode: z.int().nullable().describe('Null when its command did not end by itself.'),
    durationMs: count,
    output: z.string().nullable().describe('The last 64 KiB of both streams, as they came; null as `command`.'),
    outputBytes: count.describe('Of all that it wrote.'),
    outputFileId: idSchema
      .nullable()
      .describe(
        'The file that has all of it, where it is longer than `output`; null as `command`, and where it could not be kept.',
      ),
    protectedChanged: z
      .array(z.string())
      .max(100)
      .describe('Paths that the agent had changed, and the check saw as they were in the beginning.'),
    createdAt: timestampSchema,
  }),
  { description: 'What became of a check.' },
);

/** What the service has found out about a task by itself (reference §26). */
@Controller('v1/tasks/:taskId/checks')
export class TaskChecksController {
  constructor(
    private readonly database: Database,
    private readonly policy: TransparencyPolicy,
    private readonly again: ChecksAgain,
  ) {}

  @Post()
  @HttpCode(202)
  @Endpoint({
    summary: 'Run the checks of a task again',
    description: 'Of a final task, without its agent: what they find decides how its last turn has ended.',
    policy: 'task_execution',
    stores: true,
    scopes: ['tasks:write'],
    transaction: true,
    action: 'task.check',
    idempotency: 'optional',
    answer: taskAnswer,
  })
  async run(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') taskId: string) {
    return this.policy.task(auth, await this.again.run(auth, tx, taskId));
  }

  @Get()
  @Endpoint({
    summary: 'List the checks of a task',
    description: 'What became of each, newest first. One that still runs is not among them.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('checks', checkSchema),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string, @Page(PageQuery) page: PageRequest) {
    const seen = isUuid(taskId) && (await this.database.read.run(SEEN({ auth, id: taskId }))).length > 0;
    if (!seen) throw notFound('task');
    const found = await this.database.read.run(PAGE({ taskId, ...page.place }));
    const { rows, nextCursor } = page.cut(found, byCreation);
    const shows = this.policy.of(auth).tool_activity;
    return { checks: rows.map((row) => checkView(row, shows)), nextCursor };
  }
}

function checkView(
  { command, output, outputFileId, createdAt, ...row }: TaskCheckRow,
  shows: boolean,
): z.output<typeof checkSchema> {
  return {
    ...row,
    command: shows ? command : null,
    output: shows ? output : null,
    outputFileId: shows ? outputFileId : null,
    createdAt: createdAt.toISOString(),
  };
}
