// What of SCIM the library does: schemas, filters, PATCH, lists. It is loaded at the first request of a directory.
import type { JsonObject } from '../../platform/http/json-body.js';

/** The most that one page of a list has, and what it has when nothing is said. */
const MOST_RESULTS = 200;
const RESULTS = 100;

/** Where the resources are, in their `location`. */
const BASE_PATH = '/scim/v2';

/** What a kind of resources can do, in one request. */
export interface Store {
  one(id: string): Promise<object>;
  list(): Promise<object[]>;
  /** Those whose attribute has a value, as RFC 7643 compares it; null where nothing is kept to find them by. */
  equal(attribute: string, value: string): Promise<object[]> | null;
  /** @param id undefined for a new one. */
  write(id: string | undefined, given: JsonObject): Promise<object>;
  remove(id: string): Promise<void>;
}

/** What the library's handlers, which are one for the process, are given of a request. */
export interface Exchange {
  Users: Store;
  Groups: Store;
  /** An error that is no answer of SCIM: the library would make a 404 of it. */
  failure?: unknown;
}

export type Kind = 'Users' | 'Groups';

/** A resource that is asked for. */
interface Asked {
  id?: string;
  filter?: readonly JsonObject[] & { match<T>(values: T[]): T[] };
  read(exchange?: Exchange): Promise<object>;
  write(given: JsonObject, exchange: Exchange): Promise<object>;
  patch(message: JsonObject, exchange: Exchange): Promise<object | undefined>;
  dispose(exchange: Exchange): Promise<void>;
}

interface ResourceClass {
  new (id?: string | JsonObject, parameters?: JsonObject): Asked;
  basepath(path: string): unknown;
}

interface KeptClass extends ResourceClass {
  ingress(handler: (asked: Asked, given: object, exchange: Exchange) => Promise<object>): unknown;
  egress(handler: (asked: Asked, exchange: Exchange) => Promise<object | object[]>): unknown;
  degress(handler: (asked: Asked, exchange: Exchange) => Promise<void>): unknown;
}

/** What is used of the library. Its own types have parameters as optional that are not, and differ from kind to kind. */
export interface Library {
  Resources: {
    User: KeptClass;
    Group: KeptClass;
    Schema: ResourceClass;
    ResourceType: ResourceClass;
    ServiceProviderConfig: ResourceClass;
    declare(resource: KeptClass): unknown;
  };
  Messages: { ListResponse: new (resources: readonly object[]) => object };
}

let library: Promise<Library> | undefined;

/** Loads and sets up the library, once for a process. */
export function scimmy(): Promise<Library> {
  return (library ??= load());
}

async function load(): Promise<Library> {
  const { Config, Schemas, ...others } = await import('scimmy');
  const library = others as unknown as Library;
  const { Resources } = library;
  Config.set({
    patch: true,
    filter: { supported: true, maxResults: MOST_RESULTS },
    sort: true,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: "A token that the operator's scim-token create has made.",
      },
    ],
  });
  // What directories send of people at work, and expect to read again.
  (Schemas.User.extend as (extension: unknown) => unknown).call(Schemas.User, Schemas.EnterpriseUser);
  keep(Resources.User, 'Users');
  keep(Resources.Group, 'Groups');
  for (const resource of Object.values(Resources)) if ('basepath' in resource) resource.basepath(BASE_PATH);
  for (const resource of [Resources.User, Resources.Group]) Resources.declare(resource);
  return library;
}

function keep(resource: KeptClass, kind: Kind): void {
  resource.ingress((asked, given, exchange) => guarded(exchange, () => exchange[kind].write(asked.id, plain(given))));
  resource.egress((asked, exchange) => guarded(exchange, () => found(exchange[kind], asked)));
  resource.degress((asked, exchange) => guarded(exchange, () => exchange[kind].remove(asked.id ?? '')));
}

async function found(store: Store, { id, filter }: Asked): Promise<object | object[]> {
  if (id !== undefined) return store.one(id);
  const [attribute, value] = compared(filter ?? []) ?? [];
  const equal = attribute === undefined || value === undefined ? null : await store.equal(attribute, value);
  if (equal !== null) return equal;
  const all = await store.list();
  return filter === undefined ? all : filter.match(all);
}

/** What one comparison alone asks for: what directories look for before each change. */
function compared([first = {}, ...others]: readonly JsonObject[]): [string, string] | null {
  const [[attribute = '', test] = [], ...more] = Object.entries(first);
  if (others.length > 0 || more.length > 0 || !Array.isArray(test)) return null;
  const [operator, value] = test as unknown[];
  return operator === 'eq' && typeof value === 'string' ? [attribute.toLowerCase(), value] : null;
}

async function guarded<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    exchange.failure = error;
    throw error;
  }
}

/** Parameters of a list, as the library takes them. */
export function parametersOf(query: Readonly<Record<string, unknown>>): JsonObject {
  const { startIndex, count, ...others } = query;
  const number = (value: unknown, otherwise: number) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : otherwise);
  return { ...others, startIndex: number(startIndex, 1), count: Math.min(number(count, RESULTS), MOST_RESULTS) };
}

/** As JSON has it: resources of the library are frozen, with getters. */
export function plain(resource: object): JsonObject {
  return JSON.parse(JSON.stringify(resource)) as JsonObject;
}
