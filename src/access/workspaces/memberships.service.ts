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
const ADD = `
INSERT INTO memberships (workspace_id, user_id, role)
SELECT $1, id, $3 FROM users WHERE id = $2 AND deleted_at IS NULL FOR SHARE
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role`;

// Both at once and in one order: two members who are removed in favour of each other must not wait for each other.
const LOCK = `
SELECT user_id AS "userId", role FROM memberships WHERE workspace_id = $1 AND user_id = ANY($2::uuid[])
ORDER BY user_id FOR UPDATE`;

// Not the user's key, which requests under way refer to: they end first, by their memberships.
const LOCK_USER = `SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`;
const LOCK_EVERYWHERE = `
SELECT workspace_id AS "workspaceId" FROM memberships WHERE user_id = $1 ORDER BY workspace_id FOR UPDATE`;

/** Who belongs to a workspace, as what. */
@Injectable()
export class MembershipsService {
  private readonly listeners: MemberRemoved[] = [];

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** For features whose records live and die with a membership; called from their `onModuleInit`. */
  onRemoved(listener: MemberRemoved): void {
    this.listeners.push(listener);
  }

  /** Adds a member, or changes the role of one. Throws {@link OperatorError}. */
  async add(workspaceId: string, userId: string, role: Role): Promise<Membership> {
    await this.dataSource.query(ADD, [workspaceId, userId, role]);
    const [found] = await this.dataSource.query<Membership[]>(`${MEMBERSHIPS} AND m.user_id = $2`, [
      workspaceId,
      userId,
    ]);
    if (found === undefined) throw new OperatorError('The member was removed at the same moment; try again.');
    return found;
  }

  /** The people; service accounts have a list of their own. */
  list(workspaceId: string): Promise<Membership[]> {
    return this.dataSource.query(`${MEMBERSHIPS} AND u.kind = 'person' ORDER BY m.created_at, m.user_id`, [
      workspaceId,
    ]);
  }

  /**
   * Removes a member with all keys, for good: adding it again revives none. What it owns goes to `heirId`, any other member
   * but a viewer; without one it stays, and what is under way of it is cancelled. Throws {@link OperatorError}.
   */
  async remove(workspaceId: string, userId: string, heirId: string | null = null): Promise<void> {
    const after = await this.dataSource.transaction(async (manager) => {
      const members: { userId: string; role: Role }[] = await manager.query(LOCK, [workspaceId, [userId, heirId]]);
      if (!members.some((one) => one.userId === userId)) {
        throw new OperatorError('This user is not a member of this workspace.');
      }
      if (heirId !== null) checkHeir(userId, heirId, members.find((one) => one.userId === heirId)?.role);
      return this.end(manager, workspaceId, userId, heirId);
    });
    for (const work of after) work();
  }

  /**
   * Removes a user from every workspace, as {@link remove} without an heir does, and carries out `last` in the same
   * transaction: no membership begins or ends meanwhile. Resolves with false when the user is deleted already.
   */
  async removeEverywhere(userId: string, last: (manager: EntityManager) => Promise<void>): Promise<boolean> {
    const after = await this.dataSource.transaction(async (manager) => {
      const found: unknown[] = await manager.query(LOCK_USER, [userId]);
      if (found.length === 0) return null;
      const members: { workspaceId: string }[] = await manager.query(LOCK_EVERYWHERE, [userId]);
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
