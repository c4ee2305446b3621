import { Injectable } from '@nestjs/common';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { recorded, type DirectoryRequest } from './directory-request.js';
import { DirectoryRoles } from './directory-roles.js';
import {
  ADD_GROUP,
  CHANGE_GROUP,
  COUNT_PEOPLE,
  DELETE_GROUP,
  GROUP_BY_ID,
  type GroupRow,
  LOCK_GROUP,
  SET_MEMBERS,
} from './scim.sql.js';

/** A group as a directory describes it. */
export interface ToldGroup {
  displayName: string;
  externalId: string | null;
  /** Ids of people that the directory has told of. */
  members: readonly string[];
}

/** What a directory does with its groups (reference §31). Each change gives the people in it the roles that are theirs now. */
@Injectable()
export class DirectoryGroups {
  constructor(private readonly roles: DirectoryRoles) {}

  /** Throws 404. */
  async get(sql: Sql, { workspaceId }: DirectoryRequest, id: string): Promise<GroupRow> {
    const [row] = await sql.run(GROUP_BY_ID({ workspaceId, id }));
    if (row === undefined) throw notFound('group');
    return row;
  }

  /** Throws 400 for members that are no people of the directory, and 409 for a name that another group has. */
  async create(tx: UnitOfWork, request: DirectoryRequest, { members, ...group }: ToldGroup): Promise<GroupRow> {
    const id = newId();
    const { workspaceId } = request;
    if ((await tx.run(ADD_GROUP({ id, workspaceId, ...group }))).length === 0) throw taken(group.displayName);
    await recorded(tx, request, 'scim-group.create', { type: 'scim-group', id });
    await this.fill(tx, request, id, members);
    return this.get(tx, request, id);
  }

  /** Throws as {@link create}, and 404. */
  async replace(
    tx: UnitOfWork,
    request: DirectoryRequest,
    id: string,
    { members, ...group }: ToldGroup,
  ): Promise<GroupRow> {
    const { workspaceId } = request;
    if ((await tx.run(LOCK_GROUP({ workspaceId, id }))).length === 0) throw notFound('group');
    const { displayName: before, members: were } = await this.get(tx, request, id);
    if ((await tx.run(CHANGE_GROUP({ id, workspaceId, ...group }))).length === 0) throw taken(group.displayName);
    await recorded(tx, request, 'scim-group.update', { type: 'scim-group', id });
    await this.fill(tx, request, id, members);
    // Rules go by the name.
    if (before !== group.displayName)
      await this.roles.adjust(
        tx,
        request,
        were.map(({ value }) => value),
      );
    return this.get(tx, request, id);
  }

  /** Throws 404. */
  async remove(tx: UnitOfWork, request: DirectoryRequest, id: string): Promise<void> {
    const { workspaceId } = request;
    if ((await tx.run(LOCK_GROUP({ workspaceId, id }))).length === 0) throw notFound('group');
    const { members } = await this.get(tx, request, id);
    await tx.run(DELETE_GROUP({ workspaceId, id }));
    await recorded(tx, request, 'scim-group.delete', { type: 'scim-group', id });
    await this.roles.adjust(
      tx,
      request,
      members.map(({ value }) => value),
    );
  }

  private async fill(tx: UnitOfWork, request: DirectoryRequest, id: string, given: readonly string[]): Promise<void> {
    const { workspaceId } = request;
    const members = [...new Set(given.map((member) => member.toLowerCase()))];
    const [known] = members.every(isUuid) ? await tx.run(COUNT_PEOPLE({ workspaceId, members })) : [];
    if (known?.count !== members.length) {
      throw new ApiError('invalid_field', 'Members are people that this directory has told of, by their ids.');
    }
    const changed = await tx.run(SET_MEMBERS({ workspaceId, id, members }));
    await this.roles.adjust(
      tx,
      request,
      changed.map((person) => person.id),
    );
  }
}

function taken(name: string): ApiError {
  return new ApiError('member_exists', `This workspace's directory has a group '${name}' already.`);
}
