import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { DECIDE, DUE, type DueNotice, FORGET_BROWSER, LOOK, LOSE, RECORD } from './notices.sql.js';
import { endOfQuiet } from './quiet-hours.js';

/** How long a look may take, in milliseconds. */
const LIMIT_MS = 5_000;

interface Wanted {
  /** How many at most. */
  places: number;
  /** How many of them and of what this process has may be of one workspace. */
  share: number;
  /** What this process has, by workspace. */
  held: ReadonlyMap<string, number>;
}

/** A notice that this process sends, and nobody else ever. `attempts`: with this one. */
export type ClaimedNotice = DueNotice;

/** Who sends a notice, and what became of it. */
@Injectable()
export class NoticeClaims {
  constructor(private readonly database: Database) {}

  /** Whether there is something to claim. */
  async look(): Promise<boolean> {
    return (await this.database.polling.run(LOOK(), LIMIT_MS)).length > 0;
  }

  /**
   * Takes what is due and may be sent now. It is on record as being sent when this resolves. What is no longer so, or no longer the person's to
   * see, is dropped; what falls into quiet hours waits for their end.
   */
  async claim({ places, share, held }: Wanted): Promise<ClaimedNotice[]> {
    const client = await this.database.claims.connect();
    let done = false;
    try {
      await client.query('BEGIN');
      const due = DUE({ places, share, heldWorkspaces: [...held.keys()], heldCounts: [...held.values()] });
      const decided = due.rowsOf(await client.query(due)).map((notice) => ({ notice, ...decisionOn(notice) }));
      const ids = decided.map(({ notice }) => notice.id);
      const [statuses, dues] = [decided.map(({ status }) => status), decided.map(({ dueAt }) => dueAt)];
      await client.query(DECIDE({ ids, statuses, dues }));
      await client.query('COMMIT');
      done = true;
      return decided
        .filter(({ status }) => status === 'sending')
        .map(({ notice }) => ({ ...notice, attempts: notice.attempts + 1 }));
    } finally {
      // A connection whose transaction is open is closed, and PostgreSQL takes it back.
      client.release(!done);
    }
  }

  /** @param wait seconds until the next attempt; null: there is none. */
  async record({ id, attempts }: ClaimedNotice, status: 'sent' | 'failed' | 'pending', wait: number | null) {
    const record = RECORD({ id, attempts, status, wait: wait === null ? null : Math.ceil(wait) });
    await retryWhileUnavailable(() => this.database.work.run(record), AbortSignal.timeout(LIMIT_MS));
  }

  async forgetBrowser({ target }: ClaimedNotice): Promise<void> {
    await this.database.work.run(FORGET_BROWSER({ id: target }));
  }

  /** Resolves with how many have lost their process. */
  async lose(): Promise<number> {
    return (await this.database.polling.run(LOSE(), LIMIT_MS)).length;
  }
}

/** `dueAt` as PostgreSQL reads a time. A test is sent at once. */
function decisionOn({ allowed, kind, quiet }: DueNotice, now = new Date()) {
  if (!allowed) return { status: 'dropped', dueAt: 'now' };
  const end = quiet === null || kind === 'test' ? null : endOfQuiet(quiet, now);
  return end === null ? { status: 'sending', dueAt: 'now' } : { status: 'pending', dueAt: end.toISOString() };
}
