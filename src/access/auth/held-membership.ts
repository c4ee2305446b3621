// Every write of a request holds the membership of its caller: the unit of work begins with it.
import { ApiError } from '../../platform/http/api-error.js';
import { sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { AuthContext } from './auth-context.js';
import { USER, WORKSPACE } from './visibility.js';

// The function is in hold-membership.function.ts. The lock is the first of the transaction: the removal of a member takes it too, and then
// what the member owns.
const HOLD = sql`SELECT hold_membership(${WORKSPACE}, ${USER})`.rows();
const NO_MEMBER = 'MW001';

/**
 * Holds the caller's membership until the end of the transaction. Its removal comes before, and then the first statement of
 * the transaction fails, or after all of it, and then it finds what was written here. Costs no round trip: it travels with the
 * first statement.
 */
export function holdMembership(tx: UnitOfWork, auth: AuthContext): Promise<void> {
  return tx.runWithNext(HOLD({ auth }));
}

/** Whether an error is of the wait for the membership, and not of the statement that it travels with. */
export function waitedForMembership(error: unknown): boolean {
  const { where } = error as { where?: unknown };
  return typeof where === 'string' && where.includes('hold_membership');
}

/** Throws 401 `invalid_credential` for the failure of {@link holdMembership}, any other error as it is. */
export function refuseStranger(error: unknown): never {
  if ((error as { code?: unknown }).code !== NO_MEMBER) throw error;
  throw noMemberAnyMore(error);
}

/** 401 for a caller whose membership ended while its request was under way. */
export function noMemberAnyMore(cause?: unknown): ApiError {
  return new ApiError('invalid_credential', 'The owner of this key is no member of the workspace any more.', { cause });
}
