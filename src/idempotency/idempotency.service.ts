// Record and effect of a keyed request live in one transaction, so they exist together or not at all (reference §8).
import { Injectable } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { ApiError } from '../http/api-error.js';
import type { UnitOfWork } from '../http/unit-of-work.js';

export interface KeyedRequest {
  workspaceId: string;
  userId: string;
  method: string;
  /** Concrete, canonical. */
  path: string;
  key: string;
  fingerprint: Buffer;
}

/** An answer as stored and sent: a replay is byte for byte. */
export interface Answer {
  status: number;
  body: string;
  location: string | null;
  replayed: boolean;
}

// A record that ran out by the database's clock counts as absent, purged or not.
const CLAIM = `
INSERT INTO idempotency_keys AS k (workspace_id, user_id, method, path, key, fingerprint, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, now() + interval '24 hours')
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now()
RETURNING true`;

const IDENTITY = 'workspace_id = $1 AND user_id = $2 AND method = $3 AND path = $4 AND key = $5';

@Injectable()
export class IdempotencyService {
  /**
   * Performs a request unless it was performed before, in the transaction of its effect. Waits up to two seconds for one
   * with the same key that is still running. Throws 409 for another body, or when it is still running then.
   */
  async once(tx: UnitOfWork, request: KeyedRequest, perform: () => Promise<Answer>): Promise<Answer> {
    await tx.query(`SET LOCAL lock_timeout = '2s'`);
    if (!(await this.claim(tx, request))) return this.replay(tx, request);
    const answer = await perform();
    await tx.query(`UPDATE idempotency_keys SET status = $6, body = $7, location = $8 WHERE ${IDENTITY}`, [
      ...identity(request),
      answer.status,
      answer.body,
      answer.location,
    ]);
    return answer;
  }

  private async claim(tx: UnitOfWork, request: KeyedRequest): Promise<boolean> {
    try {
      return (await tx.query(CLAIM, [...identity(request), request.fingerprint])).length > 0;
    } catch (error) {
      const { code } = error instanceof QueryFailedError ? (error.driverError as { code?: string }) : {};
      throw code === '55P03' ? inProgress() : error;
    }
  }

  private async replay(tx: UnitOfWork, request: KeyedRequest): Promise<Answer> {
    const [found] = await tx.query<Answer & { fingerprint: Buffer }>(
      `SELECT fingerprint, status, body, location FROM idempotency_keys WHERE ${IDENTITY}`,
      identity(request),
    );
    if (found === undefined) throw inProgress();
    if (!found.fingerprint.equals(request.fingerprint)) {
      throw new ApiError('idempotency_key_reused', 'This Idempotency-Key was used with another body; take a new key.');
    }
    return { status: found.status, body: found.body, location: found.location, replayed: true };
  }
}

function identity({ workspaceId, userId, method, path, key }: KeyedRequest): string[] {
  return [workspaceId, userId, method, path, key];
}

function inProgress(): ApiError {
  return new ApiError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
    headers: { 'Retry-After': '1' },
  });
}
