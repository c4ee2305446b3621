import { Injectable } from '@nestjs/common';
import { DirectoryGroups, type ToldGroup } from '../../access/provisioning/directory-groups.js';
import { DirectoryPeople, type ToldPerson } from '../../access/provisioning/directory-people.js';
import type { DirectoryRequest } from '../../access/provisioning/directory-request.js';
import {
  GROUP_BY_NAME,
  type GroupRow,
  GROUPS,
  PEOPLE,
  PEOPLE_BY_EXTERNAL_ID,
  PERSON_BY_NAME,
  type PersonRow,
  TAKE_TURN,
} from '../../access/provisioning/scim.sql.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notFound } from '../../platform/http/api-error.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { Exchange } from './scimmy.js';

type Work<T> = (exchange: Exchange) => Promise<T>;

/** People and groups of directories, as SCIM has them (RFC 7643 §4). */
@Injectable()
export class Directories {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly people: DirectoryPeople,
    private readonly groups: DirectoryGroups,
  ) {}

  reading<T>(request: DirectoryRequest, work: Work<T>): Promise<T> {
    return failingAsGiven(this.exchange(request, this.database.read, null), work);
  }

  /** In one transaction, in the turn of the directory. */
  changing<T>(request: DirectoryRequest, work: Work<T>): Promise<T> {
    return this.transactions.open(async (tx) => {
      await tx.run(TAKE_TURN({ workspaceId: request.workspaceId }));
      return failingAsGiven(this.exchange(request, tx, tx), work);
    });
  }

  private exchange(request: DirectoryRequest, sql: Sql, tx: UnitOfWork | null): Exchange {
    const { people, groups } = this;
    const { workspaceId } = request;
    const writing = (): UnitOfWork => {
      if (tx === null) throw new Error('A request that reads writes.');
      return tx;
    };
    return {
      Users: {
        one: async (id) => userOf(await people.get(sql, request, idOf(id, 'user'))),
        list: async () => (await sql.run(PEOPLE({ workspaceId }))).map(userOf),
        equal: (attribute, value) => {
          const by = { username: PERSON_BY_NAME, externalid: PEOPLE_BY_EXTERNAL_ID }[attribute];
          return by === undefined ? null : sql.run(by({ workspaceId, value })).then((rows) => rows.map(userOf));
        },
        write: async (id, given) => {
          const told = personOf(given);
          return userOf(
            await (id === undefined
              ? people.create(writing(), request, told)
              : people.replace(writing(), request, idOf(id, 'user'), told)),
          );
        },
        remove: (id) => people.remove(writing(), request, idOf(id, 'user')),
      },
      Groups: {
        one: async (id) => groupOf(await groups.get(sql, request, idOf(id, 'group'))),
        list: async () => (await sql.run(GROUPS({ workspaceId }))).map(groupOf),
        equal: (attribute, value) =>
          attribute === 'displayname'
            ? sql.run(GROUP_BY_NAME({ workspaceId, value })).then((rows) => rows.map(groupOf))
            : null,
        write: async (id, given) => {
          const told = toldGroup(given);
          return groupOf(
            await (id === undefined
              ? groups.create(writing(), request, told)
              : groups.replace(writing(), request, idOf(id, 'group'), told)),
          );
        },
        remove: (id) => groups.remove(writing(), request, idOf(id, 'group')),
      },
    };
  }
}

/** The library makes 404 of whatever a handler throws. */
async function failingAsGiven<T>(exchange: Exchange, work: Work<T>): Promise<T> {
  try {
    return await work(exchange);
  } catch (error) {
    throw exchange.failure ?? error;
  }
}

function idOf(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return id.toLowerCase();
}

const metaOf = ({ createdAt: created, updatedAt: lastModified }: { createdAt: Date; updatedAt: Date }) => ({
  meta: { created, lastModified },
});

function userOf({ id, userName, externalId, told, active, groups, ...times }: PersonRow): object {
  return { ...told, id, userName, ...(externalId !== null && { externalId }), active, groups, ...metaOf(times) };
}

function groupOf({ id, displayName, externalId, members, ...times }: GroupRow): object {
  return { id, displayName, ...(externalId !== null && { externalId }), members, ...metaOf(times) };
}

/** A password is nobody's business here, groups are told of by groups, and the rest is ours. */
const UNKEPT = new Set(['password', 'groups', 'id', 'meta', 'schemas']);

function personOf(given: JsonObject): ToldPerson {
  const { userName, externalId, active, ...others } = given;
  const told = Object.fromEntries(Object.entries(others).filter(([name]) => !UNKEPT.has(name)));
  const name = told['name'] as JsonObject | undefined;
  const emails = (told['emails'] ?? []) as { value?: string; primary?: boolean }[];
  const address = (emails.find(({ primary }) => primary === true) ?? emails[0])?.value ?? String(userName);
  const whole = [name?.['givenName'], name?.['familyName']].filter((part) => typeof part === 'string').join(' ');
  const called = [told['displayName'], name?.['formatted'], whole].find((one) => typeof one === 'string' && one !== '');
  return {
    userName: String(userName),
    externalId: typeof externalId === 'string' ? externalId : null,
    active: active !== false,
    address: address.trim(),
    name: typeof called === 'string' ? called : null,
    told,
  };
}

function toldGroup({ displayName, externalId, members }: JsonObject): ToldGroup {
  const references = (members ?? []) as { value?: string }[];
  return {
    displayName: String(displayName),
    externalId: typeof externalId === 'string' ? externalId : null,
    members: references.map(({ value }) => value ?? ''),
  };
}
