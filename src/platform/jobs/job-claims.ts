import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Query } from '../database/sql.js';
import { keptPlaces } from '../fairness/shares.js';
import type { KnownHandler } from './job-handlers.js';
import { AGAIN, CLAIM, type ClaimedJob, DONE, END_LEASES, FAIL, HAND_BACK, RECOVER, type RecoveredJob, RENEW } from './jobs.sql.js'; // prettier-ignore
import type { Claim } from './leases.js';

/** How long a statement may take, in milliseconds: a look that hangs must not keep others from being made. */
const LIMIT_MS = 5_000;
/** Characters of an error that stay with its job. */
const ERROR_LENGTH = 2_000;

interface Wanted {
  handler: KnownHandler;
  places: number;
  held: readonly Pick<ClaimedJob, 'queue' | 'share'>[];
}

/** Who holds a job: claim, lease, end, recover. What ends a job resolves with whether it was still held. */
@Injectable()
export class JobClaims {
  constructor(private readonly database: Database) {}

  /** Takes what is due, of each queue at most as many as `places`. `held`: the jobs of it that this process has. One statement. */
  claim(wanted: Wanted[]): Promise<ClaimedJob[]> {
    const queues = wanted.map(({ handler }) => handler.queue);
    const leases = wanted.map(({ handler }) => handler.leaseSeconds);
    const most = wanted.map(({ handler }) => handler.concurrency - keptPlaces(handler.concurrency));
    const held = wanted.flatMap((one) => one.held);
    const [heldQueues, heldShares] = [held.map(({ queue }) => queue), held.map(({ share }) => share)];
    const places = wanted.map((one) => one.places);
    return this.look(CLAIM({ queues, leases, places, most, heldQueues, heldShares }));
  }

  /** Renews the leases of jobs of one queue in one statement; returns those that are still held, by id. */
  async renew(jobs: Claim[], leaseSeconds: number): Promise<Map<string, { epoch: number; renewed: boolean }>> {
    const held = { ids: jobs.map(({ id }) => id), epochs: jobs.map(({ epoch }) => epoch) };
    const rows = await this.database.leases.run(RENEW({ ...held, leaseSeconds }), (leaseSeconds * 1000) / 3);
    return new Map(rows.map(({ id, ...found }) => [id, found]));
  }

  done({ id, epoch }: Claim): Promise<boolean> {
    return this.end(DONE({ id, epoch }));
  }

  /** @param delayMs how long until the next attempt. */
  again({ id, epoch }: Claim, error: unknown, delayMs: number): Promise<boolean> {
    return this.end(AGAIN({ id, epoch, delayMs, error: words(error) }));
  }

  fail({ id, epoch }: Claim, error: unknown): Promise<boolean> {
    return this.end(FAIL({ id, epoch, error: words(error) }));
  }

  handBack({ id, epoch }: Claim): Promise<boolean> {
    return this.end(HAND_BACK({ id, epoch }));
  }

  /** Takes jobs of these queues from workers that have not renewed their leases. */
  recover(handlers: readonly KnownHandler[]): Promise<RecoveredJob[]> {
    const [queues, attempts] = [handlers.map(({ queue }) => queue), handlers.map((handler) => handler.attempts)];
    return this.look(RECOVER({ queues, attempts }));
  }

  /** When no other process can have a job. */
  async endLeases(): Promise<void> {
    await this.look(END_LEASES());
  }

  private async end(query: Query<{ id: string }>): Promise<boolean> {
    return (await this.database.work.run(query)).length > 0;
  }

  private look<Row>(query: Query<Row>): Promise<Row[]> {
    return this.database.polling.run(query, LIMIT_MS);
  }
}

/** PostgreSQL's text holds no NUL. */
function words(error: unknown): string {
  return String(error).replaceAll('\0', '').slice(0, ERROR_LENGTH);
}
