import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { newId } from '../../../platform/database/ids.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { DUE, EXPIRE } from './interaction.sql.js';

/** Milliseconds. On a connection that was cut without a word the recovery of runs would wait behind these. */
const LIMIT_MS = 5_000;

/**
 * Interactions that nobody has answered in time: the agent reads that, as the error of a question or as the reason of
 * a denied call, and goes on (reference §5).
 */
@Injectable()
export class InteractionExpiry {
  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  async expire(): Promise<void> {
    const { polling } = this.database;
    for (const { taskId } of await polling.run(DUE(), LIMIT_MS)) {
      const rows = await polling.run(EXPIRE({ taskId, runId: newId() }), LIMIT_MS);
      for (const { id } of rows) this.notices.send({ work: { kind: RUNS, id } });
    }
  }
}
