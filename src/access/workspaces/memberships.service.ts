import { Injectable } from '@nestjs/common';
import { recordOperator } from '../audit/record.js';
import type { Role } from '../auth/auth-context.js';
import { OperatorError } from '../auth/operator-error.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Membership } from './membership.entity.js';
import {
  EVERYONE,
  GET,
  HOLD_USER,
  LIST,
  LOCK,
  LOCK_EVERYWHERE,
  LOCK_OWNERS,
  LOCK_ROLE,
  LOCK_USER,
  type MemberRow,
  type MembershipRow,
  REMOVE,
  WITHOUT_OTHER_OWNER,
} from './memberships.sql.js';

export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const satisfies readonly Role[];

/**
 * Hands over what a removed member owns to another member (`heirId`), or with null ends what it has under way, in the
 * transaction `tx`. What is to be done after the commit goes to `tx.afterCommit`. The memberships of both are locked; locks
 * that follow are taken in the order project, task, run, file.
 */
export type MemberRemoved = (
  tx: UnitOfWork,
  workspaceId: string,
  userId: string,
  heirId: string | null,
) => Promise<void>;

/** Is told in the transaction `tx` that a member of this role has another one now; the membership is locked. */
export type RoleChanged = (tx: UnitOfWork, workspaceId: string, userId: string, role: Role) => Promise<void>;

/**
 * What an owner's end in a workspace asks for. `evenLastOwner`: the change is made although no other person is an owner of
 * the workspace; a service account does not stand in for one, for it answers to nobody.
 */
export interface OwnerChange {
  evenLastOwner?: boolean;
}

/** Who belongs to a workspace, as what. */
@Injectable()
export class MembershipsService {
  private readonly listeners: MemberRemoved[] = [];
  private readonly roleListeners: RoleChanged[] = [];

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
  ) {}

  /** For features whose records live and die with a membership; called from their `onModuleInit`. */
  onRemoved(listener: MemberRemoved): void {
    this.listeners.push(listener);
  }

  /** For features whose records need a role; called from their `onModuleInit`. */
  onRoleChanged(listener: RoleChanged): void {
    this.roleListeners.push(listener);
  }

  /**
   * Adds a member, or changes the role of one: `previousRole` is null for a new member. Throws {@link OperatorError}, for the
   * last owner unless `evenLastOwner`.
   */
  add(
    workspaceId: string,
    userId: string,
    role: Role,
    change: OwnerChange = {},
  ): Promise<MembershipRow & { previousRole: Role | null }> {
    return this.transactions.open(async (tx) => {
      if ((await tx.run(HOLD_USER({ userId }))).length === 0) {
        throw new OperatorError('The user was removed at the same moment; try again.');
      }
      const [before] = await tx.run(LOCK_ROLE({ workspaceId, userId }));
      if (before?.role === 'owner' && role !== 'owner') await checkOwners(tx, [workspaceId], userId, change);
      // Not `upsert`: it sets the key too, and would wait for the requests under way that refer to it.
      const put = tx.manager.createQueryBuilder().insert().into(Membership).values({ workspaceId, userId, role });
      await put.orUpdate(['role'], ['workspace_id', 'user_id']).execute();
      if (before !== undefined && before.role !== role) {
        for (const listener of this.roleListeners) await listener(tx, workspaceId, userId, role);
      }
      const [member] = await tx.run(GET({ workspaceId, userId }));
      if (member === undefined) throw new OperatorError('The member was removed at the same moment; try again.');
      await recordOperator(tx, workspaceId, 'member.add', { type: 'user', id: userId });
      return { ...member, previousRole: before?.role ?? null };
    });
  }

  /** The people; service accounts have a list of their own. */
  list(workspaceId: string): Promise<MembershipRow[]> {
    return this.transactions.run(LIST({ workspaceId }));
  }

  /** People and service accounts, for the members. */
  everyone(workspaceId: string): Promise<MemberRow[]> {
    return this.database.read.run(EVERYONE({ workspaceId }));
  }

  /**
   * Removes a member with all keys, for good: adding it again revives none. What it owns goes to `heirId`, any other member
   * but a viewer; without one it stays, and what is under way of it is cancelled. Throws {@link OperatorError}, for the last
   * owner unless `evenLastOwner`.
   * @param action what the audit log calls it.
   */
  async remove(
    workspaceId: string,
    userId: string,
    heirId: string | null = null,
    change: OwnerChange = {},
    action = 'member.remove',
  ): Promise<void> {
    await this.transactions.open(async (tx) => {
      const userIds = heirId === null ? [userId] : [userId, heirId];
      const members = await tx.run(LOCK({ workspaceId, userIds }));
      const leaver = members.find((one) => one.userId === userId);
      if (leaver === undefined) throw new OperatorError('This user is not a member of this workspace.');
      if (heirId !== null) checkHeir(userId, heirId, members.find((one) => one.userId === heirId)?.role);
      if (leaver.role === 'owner') await checkOwners(tx, [workspaceId], userId, change);
      await this.end(tx, workspaceId, userId, heirId);
      await recordOperator(tx, workspaceId, action, { type: 'user', id: userId });
    });
  }

  /**
   * Removes a user from every workspace, as {@link remove} without an heir does, and carries out `last` in the same
   * transaction: no membership begins or ends meanwhile. Resolves with false when the user is deleted already. Throws
   * {@link OperatorError} for the last owner of a workspace, unless `evenLastOwner`.
   */
  removeEverywhere(userId: string, change: OwnerChange, last: (tx: UnitOfWork) => Promise<void>): Promise<boolean> {
    return this.transactions.open(async (tx) => {
      if ((await tx.run(LOCK_USER({ userId }))).length === 0) return false;
      const members = await tx.run(LOCK_EVERYWHERE({ userId }));
      const owned = members.filter(({ role }) => role === 'owner').map(({ workspaceId }) => workspaceId);
      await checkOwners(tx, owned, userId, change);
      for (const { workspaceId } of members) {
        await this.end(tx, workspaceId, userId, null);
        await recordOperator(tx, workspaceId, 'user.delete', { type: 'user', id: userId });
      }
      await last(tx);
      return true;
    });
  }

  /** The caller holds the memberships. Keys go with them. */
  private async end(tx: UnitOfWork, workspaceId: string, userId: string, heirId: string | null): Promise<void> {
    await tx.run(REMOVE({ workspaceId, userId }));
    for (const listener of this.listeners) await listener(tx, workspaceId, userId, heirId);
  }
}

/** For the end of an owner, whose memberships the caller holds. Until the commit no other owner of these workspaces ends. */
async function checkOwners(
  tx: UnitOfWork,
  workspaceIds: string[],
  userId: string,
  { evenLastOwner = false }: OwnerChange,
): Promise<void> {
  await tx.run(LOCK_OWNERS({ workspaceIds }));
  if (evenLastOwner) return;
  const left = await tx.run(WITHOUT_OTHER_OWNER({ workspaceIds, userId }));
  if (left.length === 0) return;
  const names = left.map(({ slug }) => `'${slug}'`).join(', ');
  throw new OperatorError(
    `This would leave ${names} without a person as owner; make another member one first ('member add --role owner'), or add --yes to do it all the same.`,
  );
}

/** @param role undefined for no member. */
function checkHeir(userId: string, heirId: string, role: Role | undefined): void {
  if (heirId === userId)
    throw new OperatorError('A member cannot hand over to itself; name another with --transfer-to.');
  if (role === undefined) {
    throw new OperatorError(`The one to hand over to is not a member of this workspace; add it with 'member add'.`);
  }
  if (role === 'viewer') {
    throw new OperatorError(
      `The one to hand over to is a viewer, who only reads; an owner, admin or member is expected ('member add' changes a role).`,
    );
  }
}
