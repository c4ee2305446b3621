import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { FORGET } from './personal-notices.sql.js';

const BATCH = 500;

/** Forgets old notices. All of a member's go with the membership, those of a task with the task. */
@Injectable()
export class PersonalNoticesPurge {
  constructor(private readonly database: Database) {}

  /** Deletes what is older than 30 days; resolves with how many that were. */
  @Chore({ every: 600_000, lock: LOCKS.oldPersonalNotices })
  purge(signal?: AbortSignal): Promise<number> {
    return inBatches(BATCH, () => this.database.work.run(FORGET({ batch: BATCH })), signal);
  }
}
