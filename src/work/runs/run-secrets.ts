import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { recordUse } from '../../access/audit/record.js';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Notices } from '../../platform/notices/notices.js';
import { SecretsOf } from '../../resources/secrets/secrets-of.js';
import { COUNT, FINGERPRINTS, type UseRow } from '../../resources/secrets/secret-uses.sql.js';
import type { ClaimedRun } from './claimed-run.js';
import { TaskSecrets } from './task-secrets.js';

interface SecretsWanted {
  userId: string;
  projectId: string | null;
  names: readonly string[] | 'all';
  approved: readonly string[] | 'all';
}

/** The secrets of the runs of this process: read for each, changed while it goes on, and counted (reference §24). */
@Injectable()
export class RunSecrets implements OnModuleInit {
  private readonly logger = new Logger(RunSecrets.name);
  /** Of the runs that have asked for them. */
  private readonly held = new Set<TaskSecrets>();
  /** By the id of a workspace, as of the last look. */
  private fingerprints = new Map<string, string>();

  constructor(
    private readonly secrets: SecretsOf,
    private readonly notices: Notices,
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    this.notices.on('secrets', (workspaceId) => void this.refresh((one) => one.workspaceId === workspaceId));
  }

  /**
   * Of a run that begins. The caller closes them at its end.
   * @param of as whom the task works, its project, the names of the secrets that it asks for, and those that may be used.
   */
  of({ workspaceId, taskId }: ClaimedRun, { userId, projectId, names, approved }: SecretsWanted): TaskSecrets {
    const held: TaskSecrets = new TaskSecrets({ workspaceId, taskId, userId, approved }, () => {
      this.held.add(held);
      return this.secrets.resolve(workspaceId, userId, projectId, names);
    });
    return held;
  }

  /** What it has used is on record then. Never rejects. */
  async close(secrets: TaskSecrets): Promise<void> {
    if (!this.held.has(secrets)) return;
    await this.write(secrets);
    this.held.delete(secrets);
  }

  /** A notice may be lost. */
  @Chore({ every: 1_000 })
  async look(): Promise<void> {
    if (this.held.size === 0) return;
    for (const secrets of this.held) await this.write(secrets);
    const workspaceIds = [...new Set([...this.held].map(({ workspaceId }) => workspaceId))];
    const rows = await this.database.polling.run(FINGERPRINTS({ workspaceIds }));
    const now = new Map(rows.map(({ workspaceId, fingerprint }) => [workspaceId, fingerprint]));
    const before = this.fingerprints;
    this.fingerprints = now;
    await this.refresh(({ workspaceId }) => before.get(workspaceId) !== now.get(workspaceId));
  }

  private async refresh(which: (secrets: TaskSecrets) => boolean): Promise<void> {
    for (const secrets of [...this.held].filter(which)) {
      await secrets.refresh().catch((error: unknown) => {
        this.logger.warn(`The secrets of task ${secrets.taskId} were not read again: ${String(error)}`);
        // The next look asks again.
        this.fingerprints.delete(secrets.workspaceId);
      });
    }
  }

  private async write(secrets: TaskSecrets): Promise<void> {
    const uses = secrets.take();
    if (uses.length === 0) return;
    const { taskId, workspaceId } = secrets;
    for (const { name, host, masked } of uses) {
      if (masked > 0) this.logger.warn({ taskId, host, msg: `${host} has sent the value of ${name} back to task ${taskId}; it was masked.` }); // prettier-ignore
    }
    await this.record({ workspaceId, taskId, actorId: secrets.userId }, uses).catch((error: unknown) => {
      this.logger.warn(`Uses of secrets by task ${taskId} were not counted: ${String(error)}`);
    });
  }

  private async record(by: { workspaceId: string; taskId: string; actorId: string }, uses: UseRow[]): Promise<void> {
    await this.transactions.open(async (tx) => {
      for (const { first, ...use } of await tx.run(COUNT({ taskId: by.taskId, uses })))
        if (first) await recordUse(tx, by, use);
    });
    await this.secrets.used(
      uses.filter(({ requests }) => requests > 0).map(({ secretId }) => secretId),
      new Date(),
    );
  }
}
