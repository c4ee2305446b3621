import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MembershipsService } from '../../access/workspaces/memberships.service.js';
import { WorkspaceRemover } from '../../access/workspaces/workspace-remover.js';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { DELETE_SOME as DELETE_SOME_DELIVERIES, PURGE, PURGE_BATCH } from './webhook-deliveries.sql.js';
import { Webhook } from './webhook.entity.js';
import { CANCEL, CANCEL_LEFT, DISABLE_OF_CREATOR } from './webhooks.sql.js';

const OWNER_REMOVED = {
  code: 'owner_removed',
  message: 'Its creator is no longer an owner or admin of the workspace; any of them may enable it.',
} as const;

/** Ends webhooks with the member who made them and with their workspace, and forgets old deliveries (reference §18). */
@Injectable()
export class WebhookPurge implements OnModuleInit {
  constructor(
    private readonly database: Database,
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
      async (tx, workspaceId) => (await tx.manager.getRepository(Webhook).delete({ workspaceId })).affected ?? 0,
    );
  }

  /** Deletes what is older than 30 days, and what webhooks that are gone have left. Resolves with the number of deleted deliveries. */
  @Chore({ every: 600_000, lock: LOCKS.oldWebhookDeliveries })
  async purge(signal?: AbortSignal): Promise<number> {
    await inBatches(500, () => this.database.work.run(CANCEL_LEFT()), signal);
    return inBatches(PURGE_BATCH, () => this.database.work.run(PURGE()), signal);
  }
}

async function disable(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
  const disabled = await tx.run(DISABLE_OF_CREATOR({ workspaceId, userId, reason: OWNER_REMOVED }));
  await tx.run(CANCEL({ ids: disabled.map(({ id }) => id) }));
}
