// What becomes of tasks and automations when a member leaves or a workspace is deleted.
import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../../access/workspaces/workspace-remover.js';
import { EventLog } from '../../../platform/events/event-log.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { OWNER_REMOVED, PAUSE_OF_USER } from '../../automations/automations.sql.js';
import { transferOwnership } from './transfer-ownership.js';
import { TaskCanceller } from '../task-canceller.js';
import { TaskRemover } from '../task-remover.js';

/** Apart from the other modules of tasks, because the operator command removes members and workspaces without serving tasks. */
@Module({ providers: [TaskCanceller, TaskRemover], exports: [TaskCanceller, TaskRemover] })
export class OffboardingModule implements OnModuleInit {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly workspaces: WorkspaceRemover,
    private readonly canceller: TaskCanceller,
    private readonly remover: TaskRemover,
    private readonly events: EventLog,
  ) {}

  onModuleInit(): void {
    this.memberships.onRemoved(async (tx, workspaceId, userId, heirId) => {
      if (heirId !== null) return transferOwnership(tx, workspaceId, userId, heirId);
      // First, so that a task that an automation makes at this moment is cancelled with the others.
      await this.pauseAutomations(tx, workspaceId, userId);
      await this.canceller.cancelOfUser(tx, workspaceId, userId);
    });
    this.workspaces.onRemoving(
      (tx, workspaceId) => this.remover.removeSome(tx, workspaceId, 'open'),
      (tx, workspaceId) => this.remover.removeSome(tx, workspaceId, 'all'),
    );
  }

  private async pauseAutomations(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
    for (const { id } of await tx.run(PAUSE_OF_USER({ workspaceId, userId }))) {
      const data = { automationId: id, runId: null, taskId: null, reason: OWNER_REMOVED };
      await this.events.append(tx, { workspaceId, type: 'automation.paused', data });
    }
  }
}
