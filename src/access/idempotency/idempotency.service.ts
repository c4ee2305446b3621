// Record and effect of a keyed request live in one transaction, so they exist together or not at all (reference §8).
import { Injectable } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { type Answer, identity, inProgress, type KeyedRequest, replayOf } from './keyed-request.js';

// A record that ran out by the database's clock counts as absent, purged or not; one without an answer too, which is there
// only if BEGIN alone was cancelled by an operator and the claim behind it was carried out by itself.
const CLAIM = `
INSERT INTO idempotency_keys AS k (workspace_id, user_id, method, path, key, fingerprint, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, now() + interval '24 hours')
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR k.status IS NULL
RETURNING true`;

const IDENTITY = 'workspace_id = $1 AND user_id = $2 AND method = $3 AND path = $4 AND key = $5';

@Injectable()
export class IdempotencyService {
  /**
   * Performs a request unless it was performed before, in the transaction of its effect. Waits up to two seconds for one
   * with the same key that is still running. Throws 409 for another body, or when it is still running then.
   */
  async once(tx: UnitOfWork, request: KeyedRequest, perform: () => Promise<Answer>): Promise<Answer> {
    if (!(await this.claim(tx, request))) return this.replay(tx, request);
    const answer = await perform();
    await tx.queryWithCommit(`UPDATE idempotency_keys SET status = $6, body = $7, location = $8 WHERE ${IDENTITY}`, [
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
      throw (error as { code?: string }).code === '55P03' ? inProgress() : error;
    }
  }

  private async replay(tx: UnitOfWork, request: KeyedRequest): Promise<Answer> {
    const [found] = await tx.query<Answer & { fingerprint: Buffer }>(
      `SELECT fingerprint, status, body, location FROM idempotency_keys WHERE ${IDENTITY}`,
      identity(request),
    );
    if (found === undefined) throw inProgress();
    return replayOf(found, found.fingerprint, request);
  }
}
