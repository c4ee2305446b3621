import { Injectable } from '@nestjs/common';
import { recordOperator } from '../audit/record.js';
import type { Actor, Role } from '../auth/auth-context.js';
import { WITHDRAW } from '../auth/invitations.sql.js';
import { forOperator } from '../auth/operator-error.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { Notices } from '../../platform/notices/notices.js';
import { Membership } from './membership.entity.js';
import { lockMembers } from './lock-members.js';
import {
  EVERYONE,
  GET,
  HOLD_USER,
  JOIN,
  LIST,
  LOCK_EVERYWHERE,
  LOCK_OWNERS,
  LOCK_USER,
  type MemberRow,
  type MembershipRow,
  ONE,
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

/** As whom a membership is changed: `by` is who sends a request, whose membership is held too; without it the operator. */
export interface MemberChange extends OwnerChange {
  by?: Actor;
}

/** What an operator does about a rule that is broken. */
const ADVICE = {
  last_owner: "'member add --role owner' makes one, and with --yes it is done all the same.",
  not_found: "'member add' adds a member, and 'member list' shows all.",
} as const;

/**
 * Who belongs to a workspace, as what. What takes a transaction is the rules, which requests and the operator's verbs follow; `add`,
 * `remove` and `removeEverywhere` are the verbs.
 */
@Injectable()
export class MembershipsService {
  private readonly listeners: MemberRemoved[] = [];
  private readonly roleListeners: RoleChanged[] = [];

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  /**
   * For features whose records live and die with a membership; called from their `onModuleInit`.
   * @param order `first` for one whose locks come before those of the others, whatever the order of the modules.
   */
  onRemoved(listener: MemberRemoved, order: 'first' | 'any' = 'any'): void {
    if (order === 'first') this.listeners.unshift(listener);
    else this.listeners.push(listener);
  }

  /** For features whose records need a role; called from their `onModuleInit`. */
  onRoleChanged(listener: RoleChanged): void {
    this.roleListeners.push(listener);
  }

  /**
   * Adds a member, or changes the role of one: `previousRole` is null for a new member. Throws OperatorError, for the
   * last owner unless `evenLastOwner`.
   */
  add(
    workspaceId: string,
    userId: string,
    role: Role,
    change: OwnerChange = {},
  ): Promise<MembershipRow & { previousRole: Role | null }> {
    const added = this.transactions.open(async (tx) => {
      const joined = await this.join(tx, workspaceId, userId, role);
      const previousRole = joined ? null : await this.changeRole(tx, workspaceId, userId, role, change);
      await recordOperator(tx, workspaceId, 'member.add', { type: 'user', id: userId });
      const [member] = await tx.run(GET({ workspaceId, userId }));
      if (member === undefined) throw noSuchMember();
      return { ...member, previousRole };
    });
    return forOperator(added, ADVICE);
  }

  /**
   * Makes a user a member; false: it is one already, and keeps its role.
   * @param beforeRule `none` for a member whom a rule of `signIn` makes.
   */
  async join(
    tx: UnitOfWork,
    workspaceId: string,
    userId: string,
    role: Role,
    beforeRule: 'none' | null = null,
  ): Promise<boolean> {
    if ((await tx.run(HOLD_USER({ userId }))).length === 0) {
      throw new ApiError('unavailable', 'The account was removed at the same moment; try again.');
    }
    return (await tx.run(JOIN({ workspaceId, userId, role, beforeRule }))).length > 0;
  }

  /**
   * Gives a member another role, which from then on no rule of `signIn` lowers; resolves with the one of before. Throws 403 `role_not_allowed` for an admin and an owner, 404, and
   * 409 `last_owner` unless `evenLastOwner`.
   */
  async changeRole(
    tx: UnitOfWork,
    workspaceId: string,
    userId: string,
    role: Role,
    { by, ...change }: MemberChange = {},
  ): Promise<Role> {
    const before = (await lockMembers(tx, workspaceId, { [userId]: 'change' }, by?.userId)).get(userId);
    if (before === undefined) throw noSuchMember();
    by?.requireOwnerFor(before, role);
    if (before === 'owner' && role !== 'owner') await checkOwners(tx, [workspaceId], userId, change);
    await tx.manager.getRepository(Membership).update({ workspaceId, userId }, { role, beforeRule: null });
    if (before === role) return before;
    // An admin may have made it, who makes no owner.
    if (role === 'owner') await tx.run(WITHDRAW({ workspaceId, userId }));
    for (const listener of this.roleListeners) await listener(tx, workspaceId, userId, role);
    return before;
  }

  /** The people; service accounts have a list of their own. */
  list(workspaceId: string): Promise<MembershipRow[]> {
    return this.transactions.run(LIST({ workspaceId }));
  }

  /** People and service accounts, for the members. */
  everyone(workspaceId: string): Promise<MemberRow[]> {
    return this.database.read.run(EVERYONE({ workspaceId }));
  }

  /** A person or service account, within a transaction. Throws 404. */
  async one(tx: Sql, workspaceId: string, userId: string): Promise<MemberRow> {
    const [member] = isUuid(userId) ? await tx.run(ONE({ workspaceId, userId })) : [];
    if (member === undefined) throw noSuchMember();
    return member;
  }

  /**
   * Removes a member with all keys, for good: adding it again revives none. What it owns goes to `heirId`, any other member
   * but a viewer; without one it stays, and what is under way of it is cancelled. Throws OperatorError, for the last
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
    const removed = this.transactions.open(async (tx) => {
      await this.leave(tx, workspaceId, userId, heirId, change);
      await recordOperator(tx, workspaceId, action, { type: 'user', id: userId });
    });
    await forOperator(removed, ADVICE);
  }

  /**
   * What {@link remove} does, in a transaction. Throws 403 `role_not_allowed` for an admin and an owner, 404 for no member, and 409
   * `last_owner`; about `transferTo` 404, and 400 for a viewer and for the member itself.
   */
  async leave(
    tx: UnitOfWork,
    workspaceId: string,
    userId: string,
    heirId: string | null,
    { by, ...change }: MemberChange = {},
  ): Promise<void> {
    const both = heirId === null ? {} : { [heirId]: 'end' as const };
    const roles = await lockMembers(tx, workspaceId, { ...both, [userId]: 'end' }, by?.userId);
    const role = roles.get(userId);
    if (role === undefined) throw noSuchMember();
    by?.requireOwnerFor(role);
    if (heirId !== null) checkHeir(userId, heirId, roles.get(heirId));
    if (role === 'owner') await checkOwners(tx, [workspaceId], userId, change);
    await this.end(tx, workspaceId, userId, heirId);
  }

  /**
   * Removes a user from every workspace, as {@link remove} without an heir does, and carries out `last` in the same
   * transaction: no membership begins or ends meanwhile. Resolves with false when the user is deleted already. Throws
   * OperatorError for the last owner of a workspace, unless `evenLastOwner`.
   */
  removeEverywhere(userId: string, change: OwnerChange, last: (tx: UnitOfWork) => Promise<void>): Promise<boolean> {
    const removed = this.transactions.open(async (tx) => {
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
    return forOperator(removed, ADVICE);
  }

  /** The caller holds the memberships. Keys go with them, and what is followed with one of these ends before the answer. */
  private async end(tx: UnitOfWork, workspaceId: string, userId: string, heirId: string | null): Promise<void> {
    await tx.run(REMOVE({ workspaceId, userId }));
    tx.afterCommit(() => this.notices.send({ left: { workspaceId, userId } }));
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
  throw new ApiError(
    'last_owner',
    `This would leave ${names} without a person as owner; make another member one first.`,
  );
}

/** @param role undefined for no member. */
function checkHeir(userId: string, heirId: string, role: Role | undefined): void {
  const param = 'transferTo';
  if (heirId === userId) {
    throw new ApiError('invalid_field', 'A member cannot hand over to itself; name another one.', { param });
  }
  if (role === undefined) {
    throw new ApiError('not_found', 'The one to hand over to is not a member of this workspace.', { param });
  }
  if (role === 'viewer') {
    const message =
      'The one to hand over to is a viewer, who only reads; an owner, admin or member of the workspace is expected.';
    throw new ApiError('invalid_field', message, { param });
  }
}

function noSuchMember(): ApiError {
  return notFound('member');
}
