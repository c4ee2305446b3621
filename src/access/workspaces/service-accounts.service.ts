import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { Role } from '../auth/auth-context.js';
import { OperatorError } from '../auth/operator-error.js';
import { newId } from '../../platform/database/ids.js';
import { MembershipsService, type OwnerChange } from './memberships.service.js';

export interface ServiceAccount {
  id: string;
  name: string;
  role: Role;
  createdAt: Date;
}

const ACCOUNTS = `
SELECT u.id, u.name, m.role, u.created_at AS "createdAt" FROM users u
JOIN memberships m ON m.user_id = u.id AND m.workspace_id = u.service_of
WHERE u.kind = 'service' AND u.service_of = $1`;

/** Service accounts: users without an address, of one workspace each, for programs. Told apart by name, without regard to capitals. */
@Injectable()
export class ServiceAccountsService implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly memberships: MembershipsService,
  ) {}

  /** The account is its membership: without it the name is free, and what the account did keeps its author. */
  onModuleInit(): void {
    this.memberships.onRemoved(async (manager, _workspaceId, userId) => {
      await manager.query(`UPDATE users SET service_ended_at = now() WHERE id = $1 AND kind = 'service'`, [userId]);
      return () => undefined;
    });
  }

  /** Throws {@link OperatorError}. */
  async create(input: { workspaceId: string; name: string; role: Role }): Promise<ServiceAccount> {
    const name = input.name.trim();
    if (name === '' || name.length > 200) throw new OperatorError('A name has 1 to 200 characters.');
    const [made] = await this.dataSource.query<ServiceAccount[]>(
      `WITH account AS (
         INSERT INTO users (id, name, kind, service_of) VALUES ($1, $2, 'service', $3)
         ON CONFLICT (service_of, lower(name)) WHERE kind = 'service' AND service_ended_at IS NULL DO NOTHING
         RETURNING id, name, service_of, created_at),
       member AS (INSERT INTO memberships (workspace_id, user_id, role) SELECT service_of, id, $4 FROM account)
       SELECT id, name, $4 AS role, created_at AS "createdAt" FROM account`,
      [newId(), name, input.workspaceId, input.role],
    );
    if (made === undefined) throw new OperatorError(`There is a service account '${name}' in this workspace already.`);
    return made;
  }

  /** Oldest first. */
  list(workspaceId: string): Promise<ServiceAccount[]> {
    return this.dataSource.query(`${ACCOUNTS} ORDER BY u.created_at, u.id`, [workspaceId]);
  }

  /** By name. Throws {@link OperatorError}. */
  async get(workspaceId: string, name: string): Promise<ServiceAccount> {
    const [found] = await this.dataSource.query<ServiceAccount[]>(`${ACCOUNTS} AND lower(u.name) = lower($2)`, [
      workspaceId,
      name,
    ]);
    if (found !== undefined) return found;
    throw new OperatorError(
      `There is no service account '${name}' in this workspace; 'service-account list' shows all.`,
    );
  }

  /**
   * Ends it with all its keys, for good, and cancels what it has under way. Throws {@link OperatorError}, for an owner without
   * a person beside it unless `evenLastOwner`.
   */
  async delete(workspaceId: string, name: string, change: OwnerChange = {}): Promise<ServiceAccount> {
    const account = await this.get(workspaceId, name);
    await this.memberships.remove(workspaceId, account.id, null, change);
    return account;
  }
}
