import { Injectable } from '@nestjs/common';
import { SecretsOf } from '../../resources/secrets/secrets-of.js';
import { TaskSecrets } from '../runs/task-secrets.js';
import type { BuildToMake } from './builds.sql.js';

/**
 * The secrets of a build: those of its workspace that its environment names. A build is for all members, so nobody's own are among them, and
 * nothing of a value is in it: its commands have placeholders, as those of a task.
 */
@Injectable()
export class BuildSecrets {
  constructor(private readonly secrets: SecretsOf) {}

  of({ id, workspaceId, definition }: Pick<BuildToMake, 'id' | 'workspaceId' | 'definition'>): TaskSecrets {
    // No user: the names of a task's owner are nobody's here. No approval: what asks is a task.
    return new TaskSecrets({ workspaceId, taskId: id, userId: '', approved: 'all' }, () =>
      this.secrets.ofWorkspace(workspaceId, definition.secrets),
    );
  }

  /** Puts on record that they were used. */
  async record(secrets: TaskSecrets): Promise<void> {
    const used = secrets.take().filter(({ requests }) => requests > 0);
    if (used.length === 0) return;
    const ids = used.map(({ secretId }) => secretId);
    await this.secrets.used(ids, new Date());
  }
}
