// What becomes of webhooks when a member leaves or gets another role, or a workspace is deleted: the operator command needs no more.
import { Module, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { DELETE_SOME as DELETE_SOME_DELIVERIES } from './webhook-deliveries.sql.js';
import { CANCEL, DELETE_SOME, DISABLE_OF_CREATOR } from './webhooks.sql.js';

const OWNER_REMOVED = {
  code: 'owner_removed',
  message: 'Its creator is no longer an owner or admin of the workspace; any of them may enable it.',
} as const;

@Module({})
export class WebhookOffboardingModule implements OnModuleInit {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly workspaces: WorkspaceRemover,
  ) {}

  onModuleInit(): void {
    this.memberships.onRemoved((tx, workspaceId, userId) => disable(tx, workspaceId, userId));
    this.memberships.onRoleChanged(async (tx, workspaceId, userId, role) => {
      if (role !== 'owner' && role !== 'admin') await disable(tx, workspaceId, userId);
    });
    // What is written between the two is left to the purge.
    this.workspaces.onRemoving(
      async (tx, workspaceId) => (await tx.run(DELETE_SOME_DELIVERIES({ workspaceId }))).length,
      async (tx, workspaceId) => (await tx.run(DELETE_SOME({ workspaceId }))).length,
    );
  }
}

async function disable(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
  const disabled = await tx.run(DISABLE_OF_CREATOR({ workspaceId, userId, reason: OWNER_REMOVED }));
  await tx.run(CANCEL({ ids: disabled.map(({ id }) => id) }));
}
