// What becomes of tasks when a member leaves or a workspace is deleted.
import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../../access/workspaces/workspace-remover.js';
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
  ) {}

  onModuleInit(): void {
    this.memberships.onRemoved(async (tx, workspaceId, userId, heirId) => {
      if (heirId === null) await this.canceller.cancelOfUser(tx, workspaceId, userId);
      else await transferOwnership(tx, workspaceId, userId, heirId);
    });
    this.workspaces.onRemoving(
      (tx, workspaceId) => this.remover.removeSome(tx, workspaceId, 'open'),
      (tx, workspaceId) => this.remover.removeSome(tx, workspaceId, 'all'),
    );
  }
}
