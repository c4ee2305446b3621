import { Injectable, Logger } from '@nestjs/common';
import { recordBuildUse, type UsingBuild } from '../../access/audit/record.js';
import { Transactions } from '../../platform/database/transactions.js';
import { SecretsOf } from '../../resources/secrets/secrets-of.js';
import { TaskSecrets } from '../runs/task-secrets.js';
import type { BuildToMake } from './builds.sql.js';

/**
 * The secrets of a build: those of its workspace that its environment names. A build is for all members, so nobody's own are among them, and
 * nothing of a value is in it: its commands have placeholders, as those of a task.
 */
@Injectable()
export class BuildSecrets {
  private readonly logger = new Logger('Builds');

  constructor(
    private readonly secrets: SecretsOf,
    private readonly transactions: Transactions,
  ) {}

  of({ id, workspaceId, definition }: Pick<BuildToMake, 'id' | 'workspaceId' | 'definition'>): TaskSecrets {
    // No user: the names of a task's owner are nobody's here. No approval: what asks is a task.
    return new TaskSecrets({ workspaceId, taskId: id, userId: '', approved: 'all' }, () =>
      this.secrets.ofWorkspace(workspaceId, definition.secrets),
    );
  }

  /** What it has used lately is on record then. Never rejects. */
  async record(build: UsingBuild, secrets: TaskSecrets): Promise<void> {
    const used = secrets.take().filter(({ requests }) => requests > 0);
    if (used.length === 0) return;
    try {
      await this.transactions.open(async (tx) => {
        for (const use of used) await recordBuildUse(tx, build, use);
      });
      const ids = used.map(({ secretId }) => secretId);
      await this.secrets.used(ids, new Date());
    } catch (error) {
      this.logger.warn(`Uses of secrets by build ${build.buildId} are not on record: ${String(error)}`);
    }
  }
}
