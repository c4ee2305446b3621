import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { OperatorError } from '../auth/operator-error.js';
import { newId } from '../../platform/database/ids.js';
import { MembershipsService, type OwnerChange } from './memberships.service.js';

export interface User {
  id: string;
  email: string;
  name: string;
  createdAt: Date;
}

const COLUMNS = 'id, email, name, created_at AS "createdAt"';

// What it made stays and names it: the row keeps its id, and a name that says why it has none.
const FORGET = `UPDATE users SET email = NULL, name = 'Deleted user', deleted_at = now() WHERE id = $1`;

// Nobody can use these any more. A row that is locked is in the hands of a request of this user that waits for its membership,
// and so for this deletion: it is left to its 24 hours.
const REMAINS = [
  `DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM idempotency_keys WHERE user_id = $1 FOR UPDATE SKIP LOCKED))`,
  `DELETE FROM uploads WHERE id = ANY(ARRAY(SELECT id FROM uploads WHERE user_id = $1 FOR UPDATE SKIP LOCKED))`,
];

/** People. Their addresses are told apart without regard to capitals. */
@Injectable()
export class UsersService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly memberships: MembershipsService,
  ) {}

  /** Throws {@link OperatorError}. */
  async create(input: { email: string; name: string }): Promise<User> {
    const email = input.email.trim();
    const name = input.name.trim();
    if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 320) throw new OperatorError(`'${email}' is no address.`);
    if (name === '' || name.length > 200) throw new OperatorError('A user name has 1 to 200 characters.');
    const [made] = await this.dataSource.query<User[]>(
      `INSERT INTO users (id, email, name) VALUES ($1, $2, $3) ON CONFLICT (lower(email)) DO NOTHING RETURNING ${COLUMNS}`,
      [newId(), email, name],
    );
    if (made === undefined) throw new OperatorError(`There is a user '${email}' already.`);
    return made;
  }

  /** Oldest first, without those that are deleted. */
  list(): Promise<User[]> {
    return this.dataSource.query(
      `SELECT ${COLUMNS} FROM users WHERE kind = 'person' AND deleted_at IS NULL ORDER BY created_at, id`,
    );
  }

  /** By address. Throws {@link OperatorError}. */
  async get(email: string): Promise<User> {
    const [found] = await this.dataSource.query<User[]>(`SELECT ${COLUMNS} FROM users WHERE lower(email) = lower($1)`, [
      email,
    ]);
    if (found === undefined) throw new OperatorError(`There is no user '${email}'; 'user list' shows all.`);
    return found;
  }

  /**
   * Removes the account from every workspace, and forgets who it was: another account may be made with the address, and
   * gets nothing of this one. Throws {@link OperatorError}, for the last owner of a workspace unless `evenLastOwner`.
   */
  async delete(id: string, change: OwnerChange = {}): Promise<void> {
    const deleted = await this.memberships.removeEverywhere(id, change, async (manager) => {
      for (const statement of [...REMAINS, FORGET]) await manager.query(statement, [id]);
    });
    if (!deleted) throw new OperatorError('This user was deleted at the same moment.');
  }
}
