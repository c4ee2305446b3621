// What becomes of tasks and automations when a member leaves or a workspace is deleted.
import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../../access/workspaces/workspace-remover.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { LOCK_OF_OWNER } from '../../automations/automations.sql.js';
import { RunRecords } from '../../automations/run-records.js';
import { TaskChildren } from '../children/task-children.js';
import { transferOwnership } from './transfer-ownership.js';
import { TaskEnding } from '../task-ending.js';

const OWNER_REMOVED = { code: 'owner_removed', message: 'Its owner was removed from the workspace.' } as const;

/** Apart from the other modules of tasks, because the operator command removes members and workspaces without serving tasks. */
@Module({ providers: [RunRecords, TaskChildren, TaskEnding], exports: [TaskChildren, TaskEnding] })
export class OffboardingModule implements OnModuleInit {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly workspaces: WorkspaceRemover,
    private readonly tasks: TaskEnding,
    private readonly records: RunRecords,
  ) {}

  onModuleInit(): void {
    this.memberships.onRemoved(async (tx, workspaceId, userId, heirId) => {
      if (heirId !== null) return transferOwnership(tx, workspaceId, userId, heirId);
      // First, so that a task that an automation makes at this moment is cancelled with the others.
      await this.pauseAutomations(tx, workspaceId, userId);
      await this.tasks.cancelOfUser(tx, workspaceId, userId);
    });
    this.workspaces.onRemoving(
      (tx, workspaceId) => this.tasks.removeSome(tx, workspaceId, 'open'),
      (tx, workspaceId) => this.tasks.removeSome(tx, workspaceId, 'all'),
    );
  }

  private async pauseAutomations(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
    for (const automation of await tx.run(LOCK_OF_OWNER({ workspaceId, userId })))
      await this.records.pause(tx, automation, OWNER_REMOVED);
  }
}
