import { Injectable } from '@nestjs/common';
import { newId } from '../database/ids.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import { Notices } from '../notices/notices.js';
import { JobHandlers } from './job-handlers.js';
import { ADD } from './jobs.sql.js';

interface AddOptions {
  key?: string;
  dueAt?: Date;
  workspaceId?: string;
}

/** Where work is left to be done soon after the commit, by a process that works (docs/decisions/0033). */
@Injectable()
export class JobQueue {
  constructor(
    private readonly handlers: JobHandlers,
    private readonly notices: Notices,
  ) {}

  /**
   * Adds a job in the transaction: it exists if that is committed, and a worker hears of it then.
   *
   * @param queue the name of a `@JobHandler`. Throws when there is none.
   * @param data what the handler is given: JSON. Ids rather than rows: they may change before the job begins.
   * @param options.key while a job of the queue with this key waits or runs, nothing is added.
   * @param options.dueAt the job begins no earlier. By default at once.
   * @param options.workspaceId whose work it is. Workspaces take turns, and none has all places of a process.
   */
  async add(tx: UnitOfWork, queue: string, data: object, options: AddOptions = {}): Promise<void> {
    this.handlers.expect(queue);
    const { key = null, dueAt, workspaceId: share = '' } = options;
    const id = newId();
    // It costs the transaction no round trip of its own.
    await tx.runWithNext(ADD({ id, queue, share, key, data, dueAt: dueAt?.toISOString() ?? null }));
    if (dueAt === undefined) tx.afterCommit(() => this.notices.send({ work: { kind: queue, id } }));
  }
}
