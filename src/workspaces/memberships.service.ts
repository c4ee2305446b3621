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

/** Ends what a removed member has under way, in the same transaction. Resolves with what to do after its commit. */
export type MemberRemoved = (manager: EntityManager, workspaceId: string, userId: string) => Promise<() => void>;

const MEMBERSHIPS = `
SELECT m.workspace_id AS "workspaceId", m.user_id AS "userId", u.email, u.name, m.role, m.created_at AS "createdAt"
FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1`;

/** Who belongs to a workspace, as what. */
@Injectable()
export class MembershipsService {
  private readonly listeners: MemberRemoved[] = [];

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** For features whose records live and die with a membership; called from their `onModuleInit`. */
  onRemoved(listener: MemberRemoved): void {
    this.listeners.push(listener);
  }

  /** Adds a member, or changes the role of one. */
  async add(workspaceId: string, userId: string, role: Role): Promise<Membership> {
    await this.dataSource.query(
      `INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)
       ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role`,
      [workspaceId, userId, role],
    );
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

  /** Removes a member with all keys, for good: adding it again revives none. Throws {@link OperatorError}. */
  async remove(workspaceId: string, userId: string): Promise<void> {
    const after = await this.dataSource.transaction(async (manager) => {
      const [, removed] = await manager.query<[unknown, number]>(
        'DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2',
        [workspaceId, userId],
      );
      if (removed === 0) throw new OperatorError('This user is not a member of this workspace.');
      const waiting: (() => void)[] = [];
      for (const listener of this.listeners) waiting.push(await listener(manager, workspaceId, userId));
      return waiting;
    });
    for (const work of after) work();
  }
}
