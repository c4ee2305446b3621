// Who locks several memberships of a workspace does it here: one after the other, by their ids.
import type { Sql } from '../../platform/database/sql.js';
import type { Role } from '../auth/auth-context.js';
import { noMemberAnyMore } from '../auth/held-membership.js';
import { LOCK_ROLE } from './memberships.sql.js';

/** As what a membership is locked: the weakest lock that what is done to it allows. */
export type MemberLock = keyof typeof LOCK_ROLE;

/**
 * Locks memberships until the end of the transaction, in the order of their ids: two owners who remove each other at once, and two
 * members who are removed in favour of each other, wait in turn and not for each other.
 * @param locks by the id of the user, in small letters.
 * @param callerId of a request, whose membership is held too; its route has `locksMembers`. 401 when it has ended.
 * @returns the roles of those who are members, by the id of the user.
 */
export async function lockMembers(
  tx: Sql,
  workspaceId: string,
  locks: Readonly<Record<string, MemberLock>>,
  callerId?: string,
): Promise<Map<string, Role>> {
  const all: Record<string, MemberLock> = callerId === undefined ? locks : { [callerId]: 'hold', ...locks };
  const roles = new Map<string, Role>();
  for (const userId of Object.keys(all).sort()) {
    const [member] = await tx.run(LOCK_ROLE[all[userId] ?? 'hold']({ workspaceId, userId }));
    if (member !== undefined) roles.set(userId, member.role);
  }
  if (callerId !== undefined && !roles.has(callerId)) throw noMemberAnyMore();
  return roles;
}
