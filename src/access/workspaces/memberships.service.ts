import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import type { Role } from '../auth/auth-context.js';
import { OperatorError } from '../auth/operator-error.js';

export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const satisfies readonly Role[];

export interface Membership {
  workspaceId: string;
  userId: string;
  /** Null for a service account. */
  email: string | null;
  name: string;
  role: Role;
  createdAt: Date;
}

/**
 * Hands over what a removed member owns to another member (`heirId`), or with null ends what it has under way, in the same
 * transaction. Resolves with what to do after its commit. The memberships of both are locked; locks that follow are taken
 * in the order project, task, run, file.
 */
export type MemberRemoved = (
  manager: EntityManager,
  workspaceId: string,
  userId: string,
  heirId: string | null,
) => Promise<() => void>;

const MEMBERSHIPS = `
SELECT m.workspace_id AS "workspaceId", m.user_id AS "userId", u.email, u.name, m.role, m.created_at AS "createdAt"
FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1`;

// The account is held, so that its deletion comes before or after all of this.
const HOLD_USER = `SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NULL FOR SHARE`;
// Not its key, which requests under way refer to: a change of the role does not wait for them.
const LOCK_ROLE = `SELECT role FROM memberships WHERE workspace_id = $1 AND user_id = $2 FOR NO KEY UPDATE`;
const ADD = `
INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role`;

// Both at once and in one order: two members who are removed in favour of each other must not wait for each other.
const LOCK = `
SELECT user_id AS "userId", role FROM memberships WHERE workspace_id = $1 AND user_id = ANY($2::uuid[])
ORDER BY user_id FOR UPDATE`;

// Not the user's key, which requests under way refer to: they end first, by their memberships.
const LOCK_USER = `SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`;
const LOCK_EVERYWHERE = `
SELECT workspace_id AS "workspaceId", role FROM memberships WHERE user_id = $1 ORDER BY workspace_id FOR UPDATE`;

// Two owners of a workspace who leave at once must not count on each other. The lock is the workspace's, but not that of its
// row: claims of runs hold the row while they hold a task. Any fixed number is its first half.
const OWNERS_LOCK = 7_163_003;
const LOCK_OWNERS = `SELECT pg_advisory_xact_lock(${OWNERS_LOCK}, hashtext(id::text)) FROM unnest($1::uuid[]) AS w(id)`;
const WITHOUT_OTHER_OWNER = `
SELECT w.slug FROM workspaces w WHERE w.id = ANY($1::uuid[]) AND NOT EXISTS (
  SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.workspace_id = w.id AND m.user_id <> $2 AND m.role = 'owner' AND u.kind = 'person') ORDER BY w.slug`;

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

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** For features whose records live and die with a membership; called from their `onModuleInit`. */
  onRemoved(listener: MemberRemoved): void {
    this.listeners.push(listener);
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
  ): Promise<Membership & { previousRole: Role | null }> {
    return this.dataSource.transaction(async (manager) => {
      const held: unknown[] = await manager.query(HOLD_USER, [userId]);
      if (held.length === 0) throw new OperatorError('The user was removed at the same moment; try again.');
      const [before]: { role: Role }[] = await manager.query(LOCK_ROLE, [workspaceId, userId]);
      if (before?.role === 'owner' && role !== 'owner') await checkOwners(manager, [workspaceId], userId, change);
      await manager.query(ADD, [workspaceId, userId, role]);
      const [member]: Membership[] = await manager.query(`${MEMBERSHIPS} AND m.user_id = $2`, [workspaceId, userId]);
      if (member === undefined) throw new OperatorError('The member was removed at the same moment; try again.');
      return { ...member, previousRole: before?.role ?? null };
    });
  }

  /** The people; service accounts have a list of their own. */
  list(workspaceId: string): Promise<Membership[]> {
    return this.dataSource.query(`${MEMBERSHIPS} AND u.kind = 'person' ORDER BY m.created_at, m.user_id`, [
      workspaceId,
    ]);
  }

  /**
   * Removes a member with all keys, for good: adding it again revives none. What it owns goes to `heirId`, any other member
   * but a viewer; without one it stays, and what is under way of it is cancelled. Throws {@link OperatorError}, for the last
   * owner unless `evenLastOwner`.
   */
  async remove(
    workspaceId: string,
    userId: string,
    heirId: string | null = null,
    change: OwnerChange = {},
  ): Promise<void> {
    const after = await this.dataSource.transaction(async (manager) => {
      const members: { userId: string; role: Role }[] = await manager.query(LOCK, [workspaceId, [userId, heirId]]);
      const leaver = members.find((one) => one.userId === userId);
      if (leaver === undefined) throw new OperatorError('This user is not a member of this workspace.');
      if (heirId !== null) checkHeir(userId, heirId, members.find((one) => one.userId === heirId)?.role);
      if (leaver.role === 'owner') await checkOwners(manager, [workspaceId], userId, change);
      return this.end(manager, workspaceId, userId, heirId);
    });
    for (const work of after) work();
  }

  /**
   * Removes a user from every workspace, as {@link remove} without an heir does, and carries out `last` in the same
   * transaction: no membership begins or ends meanwhile. Resolves with false when the user is deleted already. Throws
   * {@link OperatorError} for the last owner of a workspace, unless `evenLastOwner`.
   */
  async removeEverywhere(
    userId: string,
    change: OwnerChange,
    last: (manager: EntityManager) => Promise<void>,
  ): Promise<boolean> {
    const after = await this.dataSource.transaction(async (manager) => {
      const found: unknown[] = await manager.query(LOCK_USER, [userId]);
      if (found.length === 0) return null;
      const members: { workspaceId: string; role: Role }[] = await manager.query(LOCK_EVERYWHERE, [userId]);
      const owned = members.filter(({ role }) => role === 'owner').map(({ workspaceId }) => workspaceId);
      await checkOwners(manager, owned, userId, change);
      const waiting: (() => void)[] = [];
      for (const { workspaceId } of members) waiting.push(...(await this.end(manager, workspaceId, userId, null)));
      await last(manager);
      return waiting;
    });
    for (const work of after ?? []) work();
    return after !== null;
  }

  /** The caller holds the memberships. Keys go with them. */
  private async end(manager: EntityManager, workspaceId: string, userId: string, heirId: string | null) {
    await manager.query('DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2', [workspaceId, userId]);
    const waiting: (() => void)[] = [];
    for (const listener of this.listeners) waiting.push(await listener(manager, workspaceId, userId, heirId));
    return waiting;
  }
}

/** For the end of an owner, whose memberships the caller holds. Until the commit no other owner of these workspaces ends. */
async function checkOwners(
  manager: EntityManager,
  workspaceIds: string[],
  userId: string,
  { evenLastOwner = false }: OwnerChange,
): Promise<void> {
  await manager.query(LOCK_OWNERS, [workspaceIds]);
  if (evenLastOwner) return;
  const left: { slug: string }[] = await manager.query(WITHOUT_OTHER_OWNER, [workspaceIds, userId]);
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
