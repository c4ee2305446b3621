import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../workspaces/memberships.service.js';
import { TaskCanceller } from './task-canceller.js';

/** Apart from the other modules of tasks, because the operator command removes members without serving tasks. */
@Module({ providers: [TaskCanceller], exports: [TaskCanceller] })
export class CancellingModule implements OnModuleInit {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly canceller: TaskCanceller,
  ) {}

  onModuleInit(): void {
    this.memberships.onRemoved((manager, workspaceId, userId) =>
      this.canceller.cancelOfUser(manager, workspaceId, userId),
    );
  }
}
