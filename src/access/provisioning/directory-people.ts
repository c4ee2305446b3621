import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { isName } from '../../platform/text/names.js';
import { isAddress } from '../workspaces/address.js';
import { MembershipsService } from '../workspaces/memberships.service.js';
import { UsersService } from '../workspaces/users.service.js';
import { DirectoryRoles } from './directory-roles.js';
import { type DirectoryRequest, recorded } from './directory-request.js';
import {
  ADD_PERSON,
  CHANGE_PERSON,
  DELETE_PERSON,
  LOCK_PERSON,
  OWN_MEMBERSHIP,
  PERSON_BY_ID,
  type PersonRow,
} from './scim.sql.js';

/** A person as a directory describes it. */
export interface ToldPerson {
  userName: string;
  externalId: string | null;
  active: boolean;
  /** The address that it works with, and what it is called; of a new account. */
  address: string;
  name: string | null;
  /** All of it, in the form of RFC 7643. */
  told: object;
}

/** What a directory does with people of its workspace (reference §31). */
@Injectable()
export class DirectoryPeople {
  constructor(
    private readonly users: UsersService,
    private readonly memberships: MembershipsService,
    private readonly roles: DirectoryRoles,
  ) {}

  /** Throws 404. */
  async get(sql: Sql, { workspaceId }: DirectoryRequest, id: string): Promise<PersonRow> {
    const [row] = await sql.run(PERSON_BY_ID({ workspaceId, id }));
    if (row === undefined) throw notFound('user');
    return row;
  }

  /**
   * Makes an account where nobody has the address, and a member of it. Throws 400 for an address that is none, and 409 where the directory has
   * told of the account or the name already.
   */
  async create(tx: UnitOfWork, request: DirectoryRequest, person: ToldPerson): Promise<PersonRow> {
    const { workspaceId } = request;
    const { address, name } = person;
    if (!isAddress(address)) {
      throw new ApiError('invalid_field', `A person needs an address, in emails or as userName; '${address}' is none.`);
    }
    const called = name !== null && isName(name) ? name : undefined;
    const { id: userId } = await this.users.withAddress({ actorId: null, keyId: request.id }, tx, address, called);
    const id = newId();
    const { userName, externalId, told } = person;
    if ((await tx.run(ADD_PERSON({ id, workspaceId, userId, userName, externalId, told }))).length === 0) {
      throw taken(`${userName} or ${address}`);
    }
    await recorded(tx, request, 'scim-user.create', { type: 'scim-user', id });
    if (person.active) await this.join(tx, request, { id, userId, address });
    return this.get(tx, request, id);
  }

  /**
   * Takes what the directory says now. A person who is not active any more is a member no more, with all that a member's end brings; the account
   * and its address stay what they are. Throws 404, and 409 for a name that another one has and for the last owner.
   */
  async replace(tx: UnitOfWork, request: DirectoryRequest, id: string, person: ToldPerson): Promise<PersonRow> {
    const { workspaceId } = request;
    const userId = await this.lock(tx, request, id);
    const before = await this.get(tx, request, id);
    const { userName, externalId, told, active, address } = person;
    if ((await tx.run(CHANGE_PERSON({ workspaceId, id, userName, externalId, told }))).length === 0) {
      throw taken(userName);
    }
    await recorded(tx, request, 'scim-user.update', { type: 'scim-user', id });
    if (before.active && !active) await this.leave(tx, request, userId);
    if (!before.active && active) await this.join(tx, request, { id, userId, address });
    return this.get(tx, request, id);
  }

  /** Ends the membership, and forgets what the directory has told. Throws 404, and 409 for the last owner. */
  async remove(tx: UnitOfWork, request: DirectoryRequest, id: string): Promise<void> {
    const userId = await this.lock(tx, request, id);
    const { active } = await this.get(tx, request, id);
    if (active) await this.leave(tx, request, userId);
    await tx.run(DELETE_PERSON({ workspaceId: request.workspaceId, id }));
    await recorded(tx, request, 'scim-user.delete', { type: 'scim-user', id });
  }

  private async lock(tx: UnitOfWork, { workspaceId }: DirectoryRequest, id: string): Promise<string> {
    const [row] = await tx.run(LOCK_PERSON({ workspaceId, id }));
    if (row === undefined) throw notFound('user');
    return row.userId;
  }

  /** One who was a member before, by the operator or an owner, stays what it was. */
  private async join(
    tx: UnitOfWork,
    request: DirectoryRequest,
    { id, userId, address }: { id: string; userId: string; address: string },
  ): Promise<void> {
    const { workspaceId } = request;
    const role = await this.roles.of(tx, request, id, address);
    if (!(await this.memberships.join(tx, workspaceId, userId, role))) return;
    await tx.run(OWN_MEMBERSHIP({ workspaceId, id }));
    await recorded(tx, request, 'member.add', { type: 'user', id: userId });
  }

  private async leave(tx: UnitOfWork, request: DirectoryRequest, userId: string): Promise<void> {
    await this.memberships.leave(tx, request.workspaceId, userId, null);
    await recorded(tx, request, 'member.remove', { type: 'user', id: userId });
  }
}

function taken(who: string): ApiError {
  return new ApiError('member_exists', `This workspace's directory has told of ${who} already.`);
}
