// Record and effect of a keyed request live in one transaction, so they exist together or not at all (reference §8). The claim locks
// the record of the key until the commit, before anything else is locked.
import { bytes, int, sql, text, textOrNull, uuid } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { waitedForMembership } from '../auth/held-membership.js';
import { type Answer, inProgress, type KeyedRequest, replayOf } from './keyed-request.js';

const IDENTITY = sql`workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')}
  AND method = ${text('method')} AND path = ${text('path')} AND key = ${text('key')}`;

/**
 * One row when the key is new. A record that ran out by the database's clock counts as absent, purged or not; one without an
 * answer too, which is there only if BEGIN alone was cancelled by an operator and the claim behind it was carried out by itself.
 */
const CLAIM = sql`
INSERT INTO idempotency_keys AS k (workspace_id, user_id, method, path, key, fingerprint, expires_at)
VALUES (${uuid('workspaceId')}, ${uuid('userId')}, ${text('method')}, ${text('path')}, ${text('key')},
  ${bytes('fingerprint')}, now() + interval '24 hours')
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR k.status IS NULL
RETURNING true`.rows();

/** The answer, on the record that {@link CLAIM} has made in the same transaction. */
const STORE = sql`
UPDATE idempotency_keys SET status = ${int('status')}, body = ${text('body')}, location = ${textOrNull('location')}
WHERE ${IDENTITY}`.rows();

type Stored = Omit<Answer, 'replayed'> & { fingerprint: Buffer };
const FIND = sql`
SELECT fingerprint, status, body, location FROM idempotency_keys WHERE ${IDENTITY}`.rows<Stored>();

/**
 * Performs a request unless it was performed before, in the transaction of its effect. Waits up to two seconds for one
 * with the same key that is still running. Throws 409 for another body, or when it is still running then.
 */
export async function performOnce(
  tx: UnitOfWork,
  request: KeyedRequest,
  perform: () => Promise<Answer>,
): Promise<Answer> {
  if (!(await claim(tx, request))) return replay(tx, request);
  const answer = await perform();
  await tx.runWithNext(STORE({ ...request, ...answer }));
  return answer;
}

async function claim(tx: UnitOfWork, request: KeyedRequest): Promise<boolean> {
  try {
    return (await tx.run(CLAIM(request))).length > 0;
  } catch (error) {
    const locked = (error as { code?: string }).code === '55P03';
    // The lock on the membership travels with the claim, and is no request with the same key.
    throw locked && !waitedForMembership(error) ? inProgress() : error;
  }
}

async function replay(tx: UnitOfWork, request: KeyedRequest): Promise<Answer> {
  const [found] = await tx.run(FIND(request));
  if (found === undefined) throw inProgress();
  return replayOf(found, found.fingerprint, request);
}
