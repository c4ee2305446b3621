import { Module } from '@nestjs/common';
import { AgentTool, Database, defineExtension, isUuid, OperatorError, Plugin, sql, success } from 'millwright';
import { type ExtensionCommand, type ToolContext, type ToolOutcome, uuid, WorkspacesService } from 'millwright';
import { z } from 'zod';
import { ReviewsConfig, TOO_MANY_REVIEWS } from './review.shapes.js';
import { Review, Reviews1795564800001 } from './review.table.js';
import { ReviewsController } from './reviews.controller.js';
import { ReviewsService } from './reviews.service.js';

const OF_TASK = sql`SELECT rating, text FROM reviews WHERE task_id = ${uuid('taskId')} ORDER BY created_at`.rows();

@Plugin(AgentTool, 'read_reviews')
export class ReadReviewsTool extends AgentTool {
  readonly name = 'read_reviews';
  readonly description = 'Reads what people have written about the work on this task, the oldest first.';
  readonly parameters = z.strictObject({});
  // It only reads: after a crash it may simply be run again, and nobody needs to approve it.
  readonly repeatable = true;
  override readonly changes = false;

  constructor(private readonly database: Database) {
    super();
  }

  async execute(_arguments: unknown, { taskId }: ToolContext): Promise<ToolOutcome> {
    return success({ reviews: await this.database.work.run(OF_TASK({ taskId })) });
  }
}

const OF_WORKSPACE = sql`
SELECT r.id, t.title AS task, r.rating, r.text FROM reviews r JOIN tasks t ON t.id = r.task_id
WHERE r.workspace_id = ${uuid('workspaceId')} ORDER BY r.created_at`.rows();
const DELETE = sql`DELETE FROM reviews WHERE id = ${uuid('id')} RETURNING id`.rows();

const commands: Record<string, ExtensionCommand> = {
  list: {
    description: 'the reviews of a workspace',
    required: { '--workspace <slug>': 'which workspace' },
    example: '--workspace acme',
    async run(services, { workspace }) {
      const { id: workspaceId } = await services.get(WorkspacesService).get(String(workspace));
      return { reviews: await services.get(Database).work.run(OF_WORKSPACE({ workspaceId })) };
    },
  },
  'delete <id>': {
    description: 'deletes a review',
    example: '019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081',
    async run(services, _options, id) {
      const gone = isUuid(id) ? await services.get(Database).work.run(DELETE({ id })) : [];
      if (gone.length === 0) throw new OperatorError(`There is no review '${id}'; 'reviews list' shows the ids.`);
      return { deleted: true, id };
    },
  },
};

@Module({ controllers: [ReviewsController], providers: [ReviewsService, ReadReviewsTool] })
class ReviewsModule {}

export const REVIEWS = defineExtension({
  name: 'reviews',
  module: ReviewsModule,
  entities: [Review],
  migrations: [Reviews1795564800001],
  config: ReviewsConfig,
  scopes: ['reviews:read', 'reviews:write'],
  policies: {
    review_write: { free: { capacity: 10, windowSeconds: 60 }, paid: { capacity: 60, windowSeconds: 60 } },
  },
  errors: [TOO_MANY_REVIEWS],
  events: [{ type: 'reviews.created', description: 'A task was reviewed.', webhook: true }],
  commands,
});
