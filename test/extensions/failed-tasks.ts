import { Injectable, Module } from '@nestjs/common';
import {
  defineExtension,
  type DomainEvent,
  ForwardMigration,
  jsonb,
  OnEvent,
  sql,
  text,
  type UnitOfWork,
  uuid,
} from 'millwright';

const NOTE = sql`
INSERT INTO failed_tasks (event, workspace_id, reason)
VALUES (${text('event')}, ${uuid('workspaceId')}, ${jsonb<unknown>()('reason')})`.rows();

/** What the team on call looks at. */
@Injectable()
export class FailedTasks {
  @OnEvent('task.failed')
  async note({ id, workspaceId, data }: DomainEvent, tx: UnitOfWork): Promise<void> {
    await tx.run(NOTE({ event: id, workspaceId, reason: data['statusReason'] }));
  }
}

class FailedTasks1795823400001 extends ForwardMigration {
  readonly sql =
    'CREATE TABLE failed_tasks (event text PRIMARY KEY, workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE, reason jsonb)';
}

@Module({ providers: [FailedTasks] })
class FailedTasksModule {}

export const FAILED_TASKS = defineExtension({
  name: 'failed-tasks',
  module: FailedTasksModule,
  migrations: [FailedTasks1795823400001],
});
