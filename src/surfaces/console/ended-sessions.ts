import { Injectable } from '@nestjs/common';
import { END_ALL } from '../../access/auth/invitations.sql.js';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql } from '../../platform/database/sql.js';

const BATCH = 500;
const HOUR = 3_600_000;

const forget = (table: string) =>
  sql`
DELETE FROM ${raw(table)} WHERE hash IN (
  SELECT hash FROM ${raw(table)} WHERE expires_at <= now() LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
RETURNING 1`.rows();
const FORGET_SESSIONS = forget('console_sessions');
const FORGET_CODES = forget('console_codes');

const FORGET_KEYS = sql`
DELETE FROM api_keys WHERE id IN (
  SELECT id FROM api_keys WHERE session AND expires_at <= now() - interval '1 day'
  LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
RETURNING 1`.rows();

/** Deletes sessions and codes whose time is over, and the keys of sessions. They count no more: this is about space. The key of an invitation ends with its session. */
@Injectable()
export class EndedSessions {
  constructor(private readonly database: Database) {}

  /** Resolves with how many rows there were. */
  @Chore({ every: HOUR, lock: LOCKS.endedSessions })
  async forget(signal?: AbortSignal): Promise<number> {
    const sessions = await inBatches(BATCH, () => this.database.work.run(FORGET_SESSIONS()), signal);
    await this.database.work.run(END_ALL());
    await inBatches(BATCH, () => this.database.work.run(FORGET_KEYS()), signal);
    return sessions + (await inBatches(BATCH, () => this.database.work.run(FORGET_CODES()), signal));
  }
}
