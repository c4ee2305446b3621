import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { OperatorError } from '../auth/operator-error.js';

export interface User {
  id: string;
  email: string;
  name: string;
  createdAt: Date;
}

const COLUMNS = 'id, email, name, created_at AS "createdAt"';

/** People. Their addresses are told apart without regard to capitals. */
@Injectable()
export class UsersService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Throws {@link OperatorError}. */
  async create(input: { email: string; name: string }): Promise<User> {
    const email = input.email.trim();
    const name = input.name.trim();
    if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 320) throw new OperatorError(`'${email}' is no address.`);
    if (name === '' || name.length > 200) throw new OperatorError('A user name has 1 to 200 characters.');
    const [made] = await this.dataSource.query<User[]>(
      `INSERT INTO users (id, email, name) VALUES ($1, $2, $3) ON CONFLICT (lower(email)) DO NOTHING RETURNING ${COLUMNS}`,
      [uuidv7(), email, name],
    );
    if (made === undefined) throw new OperatorError(`There is a user '${email}' already.`);
    return made;
  }

  /** By address. Throws {@link OperatorError}. */
  async get(email: string): Promise<User> {
    const [found] = await this.dataSource.query<User[]>(`SELECT ${COLUMNS} FROM users WHERE lower(email) = lower($1)`, [
      email,
    ]);
    if (found === undefined) throw new OperatorError(`There is no user '${email}'; make one with 'user create'.`);
    return found;
  }
}
