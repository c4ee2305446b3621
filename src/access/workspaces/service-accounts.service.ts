import { Injectable, type OnModuleInit } from '@nestjs/common';
import { recordOperator } from '../audit/record.js';
import type { Actor, AuthContext, Role } from '../auth/auth-context.js';
import { forOperator, nameOf, OperatorError } from '../auth/operator-error.js';
import { columns } from '../../platform/database/columns.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { type Sql, sql, text, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { Membership } from './membership.entity.js';
import { MembershipsService, type OwnerChange } from './memberships.service.js';
import { User } from './user.entity.js';

const ACCOUNT = columns(User, 'u', ['id', 'name', 'createdAt']);
const ROLE = columns(Membership, 'm', ['role']);
export type ServiceAccount = typeof ACCOUNT.row & typeof ROLE.row;

const SELECT = sql`
SELECT ${ACCOUNT}, ${ROLE} FROM users u
JOIN memberships m ON m.user_id = u.id AND m.workspace_id = u.service_of
WHERE u.kind = 'service' AND u.service_of = ${uuid('workspaceId')}`;
const LIST = sql`${SELECT} ORDER BY u.created_at, u.id`.rows<ServiceAccount>();
const ONE = sql`${SELECT} AND u.id = ${uuid('id')}`.rows<ServiceAccount>();
const GET = sql`${SELECT} AND lower(u.name) = lower(${text('name')})`.rows<ServiceAccount>();

// No row when an account that has not ended has the name.
const CREATE = sql`
WITH u AS (
  INSERT INTO users (id, name, kind, service_of) VALUES (${uuid('id')}, ${text('name')}, 'service', ${uuid('workspaceId')})
  ON CONFLICT (service_of, lower(name)) WHERE kind = 'service' AND service_ended_at IS NULL DO NOTHING
  RETURNING id, name, service_of, created_at),
m AS (INSERT INTO memberships (workspace_id, user_id, role) SELECT service_of, id, ${text('role')} FROM u RETURNING role)
SELECT ${ACCOUNT}, ${ROLE} FROM u, m`.rows<ServiceAccount>();

interface NewAccount {
  workspaceId: string;
  name: string;
  role: Role;
}

/** Service accounts: users without an address, of one workspace each, for programs. Told apart by name, without regard to capitals. */
@Injectable()
export class ServiceAccountsService implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly memberships: MembershipsService,
  ) {}

  /** The account is its membership: without it the name is free, and what the account did keeps its author. */
  onModuleInit(): void {
    this.memberships.onRemoved(async (tx, _workspaceId, userId) => {
      await tx.manager.getRepository(User).update({ id: userId, kind: 'service' }, { serviceEndedAt: () => 'now()' });
    });
  }

  /** Throws {@link OperatorError}. */
  create(input: NewAccount): Promise<ServiceAccount> {
    const name = nameOf(input.name, 'A name');
    const made = this.transactions.open(async (tx) => {
      const account = await this.make(tx, { ...input, name });
      await recordOperator(tx, input.workspaceId, 'service-account.create', { type: 'user', id: account.id });
      return account;
    });
    return forOperator(made);
  }

  /** In a transaction. Throws 409 `service_account_exists`, and 403 `role_not_allowed` for an admin who would make an owner. */
  async make(tx: UnitOfWork, input: NewAccount, by?: Actor): Promise<ServiceAccount> {
    by?.requireOwnerFor(input.role);
    const [made] = await tx.run(CREATE({ ...input, id: newId() }));
    if (made !== undefined) return made;
    const message = `There is a service account '${input.name}' in this workspace already.`;
    throw new ApiError('service_account_exists', message, { param: 'name' });
  }

  /** Oldest first. */
  list(workspaceId: string): Promise<ServiceAccount[]> {
    return this.transactions.run(LIST({ workspaceId }));
  }

  /** By id, for a request. Throws 404. */
  async one(sql: Sql, workspaceId: string, id: string): Promise<ServiceAccount> {
    const [found] = isUuid(id) ? await sql.run(ONE({ workspaceId, id })) : [];
    if (found === undefined) throw notFound('service account');
    return found;
  }

  /** Ends it as {@link delete} does, for who asks. Throws 403 `role_not_allowed`, 404 and 409 `last_owner`. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const account = await this.one(tx, auth.workspaceId, id);
    await this.memberships.leave(tx, auth.workspaceId, account.id, null, { by: auth });
  }

  /** By name. Throws {@link OperatorError}. */
  async get(workspaceId: string, name: string): Promise<ServiceAccount> {
    const [found] = await this.transactions.run(GET({ workspaceId, name }));
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
    await this.memberships.remove(workspaceId, account.id, null, change, 'service-account.delete');
    return account;
  }
}
