import { Injectable } from '@nestjs/common';
import { INSTALLATION } from '../audit/audit-entry.entity.js';
import { recordAct, recordOperator, type Sender } from '../audit/record.js';
import { nameOf, OperatorError } from '../auth/operator-error.js';
import { columns } from '../../platform/database/columns.js';
import { newId } from '../../platform/database/ids.js';
import { raw, sql, text, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { isAddress } from './address.js';
import { MembershipsService, type OwnerChange } from './memberships.service.js';
import { User } from './user.entity.js';

const PERSON = columns(User, 'u', ['id', 'email', 'name', 'createdAt']);
/** A person who is not deleted, and so has an address. */
export type Person = typeof PERSON.row & { email: string };

/** No row where another account has the address, or got it at the same moment. */
export const CREATE_PERSON = sql`
INSERT INTO users AS u (id, email, name) VALUES (${uuid('id')}, ${text('email')}, ${text('name')})
ON CONFLICT (lower(email)) DO NOTHING RETURNING ${PERSON}`.rows<Person>();
const LIST = sql`
SELECT ${PERSON} FROM users u WHERE u.kind = 'person' AND u.deleted_at IS NULL ORDER BY u.created_at, u.id`.rows<Person>();
const GET = sql`SELECT ${PERSON} FROM users u WHERE lower(u.email) = lower(${text('email')})`.rows<Person>();

// Nobody can use these any more. A row that is locked is being deleted by a chore.
const DELETE_REMAINS = ['idempotency_keys', 'uploads', 'sign_in_identities', 'scim_users'].map((table) =>
  sql`
DELETE FROM ${raw(table)} WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM ${raw(table)} WHERE user_id = ${uuid('id')} FOR UPDATE SKIP LOCKED))`.rows(),
);

/** People. Their addresses are told apart without regard to capitals. */
@Injectable()
export class UsersService {
  constructor(
    private readonly transactions: Transactions,
    private readonly memberships: MembershipsService,
  ) {}

  /** Throws {@link OperatorError}. */
  async create(input: { email: string; name: string }): Promise<Person> {
    const email = input.email.trim();
    const name = nameOf(input.name, 'A user name');
    if (!isAddress(email)) throw new OperatorError(`'${email}' is no address.`);
    return this.transactions.open(async (tx) => {
      const [made] = await tx.run(CREATE_PERSON({ id: newId(), email, name }));
      if (made === undefined) throw new OperatorError(`There is a user '${email}' already.`);
      await recordOperator(tx, null, 'user.create', { type: 'user', id: made.id });
      return made;
    });
  }

  /**
   * The account with this address, in the transaction of a request; made when there is none, which the installation's log says.
   * @param by who sends the request. @param name of a new one; what stands before the @ when not given.
   */
  async withAddress(
    by: Pick<Sender, 'actorId' | 'keyId'>,
    tx: UnitOfWork,
    email: string,
    name?: string,
  ): Promise<Person> {
    const [known] = await tx.run(GET({ email }));
    if (known !== undefined) return known;
    const [made] = await tx.run(CREATE_PERSON({ id: newId(), email, name: name ?? localPart(email) }));
    if (made !== undefined) {
      const sender = { ...by, workspaceId: INSTALLATION, address: null, requestId: null };
      await recordAct(tx, sender, 'user.create', { type: 'user', id: made.id });
      return made;
    }
    const [other] = await tx.run(GET({ email }));
    if (other !== undefined) return other;
    throw new ApiError('unavailable', 'The account was removed at the same moment; try again.');
  }

  /** Oldest first, without those that are deleted. */
  list(): Promise<Person[]> {
    return this.transactions.run(LIST());
  }

  /** By address. Throws {@link OperatorError}. */
  async get(email: string): Promise<Person> {
    const [found] = await this.transactions.run(GET({ email }));
    if (found === undefined) throw new OperatorError(`There is no user '${email}'; 'user list' shows all.`);
    return found;
  }

  /**
   * Removes the account from every workspace, and forgets who it was: another account may be made with the address, and
   * gets nothing of this one. Throws {@link OperatorError}, for the last owner of a workspace unless `evenLastOwner`.
   */
  async delete(id: string, change: OwnerChange = {}): Promise<void> {
    const deleted = await this.memberships.removeEverywhere(id, change, async (tx) => {
      for (const statement of DELETE_REMAINS) await tx.run(statement({ id }));
      // What the user made stays and names it: the row keeps its id, and gets a name that says why it has no other.
      const forgotten = { email: null, name: 'Deleted user', deletedAt: () => 'now()' };
      await tx.manager.getRepository(User).update({ id }, forgotten);
      await recordOperator(tx, null, 'user.delete', { type: 'user', id });
    });
    if (!deleted) throw new OperatorError('This user was deleted at the same moment.');
  }
}

/** As much of it as a name may have. */
function localPart(email: string): string {
  return email.slice(0, email.lastIndexOf('@')).slice(0, 200).toWellFormed();
}
