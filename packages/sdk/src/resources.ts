// One property of the client per resource (reference §2); each method is one route.
import { List } from './list.js';
import type { CallOptions, Query, Request, Transport } from './transport.js';
import type {
  AddMember, AuditEntry, AuthContext, BillingSummary, ChangeMember, ChangeNotices, ChangeProject, Checkout, Connect, CreateKey, CreateProject,
  CreateServiceAccount, CreateServiceKey, Deleted, File as StoredFile, Integration, IntegrationConnection, IntegrationDelivery, Invitation,
  Key, Member, Model, Notices, PaymentPage, Portal, Project, PushState, PushSubscription, RotateConnection, ServiceAccount, Upload, UsageRow,
  McpServer,
  WebAccess,
} from './types.js'; // prettier-ignore

/** What an upload is given beside the client's own time, by its size: 100 KB a second. */
const UPLOAD_BYTES_PER_MS = 100;

/** Who a file is called by when it is a `Blob` without a name. */
export interface UploadOptions extends CallOptions {
  name?: string;
}

export abstract class Resource {
  constructor(protected readonly transport: Transport) {}

  /** The object inside the envelope. */
  protected async one<T>(key: string, request: Request): Promise<T> {
    return (await this.transport.json<Record<string, T>>(request))[key] as T;
  }

  protected deleted(path: string, options?: CallOptions): Promise<Deleted> {
    return this.transport.json({ method: 'DELETE', path, ...options });
  }

  protected all<T>(path: string, key: string, query: Query = {}, options?: CallOptions): List<T> {
    return new List<T>(this.transport, path, key, query, options);
  }

  protected upload<T>(path: string, key: string, file: Blob, { name, ...options }: UploadOptions): Promise<T> {
    const body = new FormData();
    body.append('file', file, name ?? (file instanceof File ? file.name : 'file'));
    return this.one(key, { method: 'POST', path, body, moreTime: file.size / UPLOAD_BYTES_PER_MS, ...options });
  }
}

/** Makes one segment of a path of an id. */
export const segment = encodeURIComponent;

/** A resource each of which has an address. */
export abstract class Collection extends Resource {
  /** Where they are: `/v1/projects`. */
  protected abstract readonly root: string;

  delete(id: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(this.path(id), options);
  }

  /** The address of one, or what lies below it. */
  protected path(id: string, rest = ''): string {
    return `${this.root}/${segment(id)}${rest}`;
  }

  protected post(id: string, rest: string, options?: CallOptions): Request {
    return { method: 'POST', path: this.path(id, rest), ...options };
  }
}

export class Projects extends Collection {
  protected readonly root = '/v1/projects';

  create(body: CreateProject, options?: CallOptions): Promise<Project> {
    return this.one('project', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }
  get(id: string, options?: CallOptions): Promise<Project> {
    return this.one('project', { method: 'GET', path: this.path(id), ...options });
  }
  update(id: string, body: ChangeProject, options?: CallOptions): Promise<Project> {
    return this.one('project', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  list(query?: { limit?: number }, options?: CallOptions): List<Project> {
    return this.all(this.root, 'projects', query, options);
  }
  files(id: string, query?: { limit?: number }, options?: CallOptions): List<StoredFile> {
    return this.all(this.path(id, '/files'), 'files', query, options);
  }
  addFile(id: string, file: Blob, options: UploadOptions = {}): Promise<StoredFile> {
    return this.upload(this.path(id, '/files'), 'file', file, options);
  }
  removeFile(id: string, fileId: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(this.path(id, `/files/${segment(fileId)}`), options);
  }
}

export class Uploads extends Resource {
  /** For 24 hours a task or message may refer to it. `@millwright/sdk/node` makes a `File` of a path. */
  create(file: Blob, options: UploadOptions = {}): Promise<Upload> {
    return this.upload('/v1/uploads', 'upload', file, options);
  }
}

export class Files extends Resource {
  /** What is left of deleted projects, newest first. */
  list(query: { project: 'none'; limit?: number }, options?: CallOptions): List<StoredFile> {
    return this.all('/v1/files', 'files', query, options);
  }
  /** Of a deleted project. 409 `file_in_use`: of any other. */
  delete(id: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(`/v1/files/${segment(id)}`, options);
  }
  get(id: string, options?: CallOptions): Promise<StoredFile> {
    return this.one('file', { method: 'GET', path: `/v1/files/${segment(id)}`, ...options });
  }
  /** Resolves with the head of the answer; `body` streams, `arrayBuffer()` and `text()` read all. */
  content(id: string, options?: CallOptions): Promise<Response> {
    return this.transport.response({ method: 'GET', path: `/v1/files/${segment(id)}/content`, ...options });
  }
}

export class Keys extends Collection {
  protected readonly root = '/v1/keys';

  list(options?: CallOptions): Promise<Key[]> {
    return this.one('keys', { method: 'GET', path: this.root, ...options });
  }
  /** The secret is shown here alone. */
  create(body: CreateKey, options?: CallOptions): Promise<{ key: Key; secret: string }> {
    return this.transport.json({ method: 'POST', path: this.root, body, ...options });
  }
  rotate(
    id: string,
    body: { overlapSeconds?: number } = {},
    options?: CallOptions,
  ): Promise<{ key: Key; secret: string }> {
    return this.transport.json({ ...this.post(id, '/rotate', options), body });
  }
}

export class Auth extends Resource {
  /** Who the key acts as, where, and what it may. */
  context(options?: CallOptions): Promise<AuthContext> {
    return this.transport.json({ method: 'GET', path: '/v1/auth/context', ...options });
  }
}

export class Models extends Resource {
  list(options?: CallOptions): Promise<Model[]> {
    return this.one('models', { method: 'GET', path: '/v1/models', ...options });
  }
}

export class McpServers extends Resource {
  /** The servers whose tools a task may have. */
  list(options?: CallOptions): Promise<McpServer[]> {
    return this.one('mcpServers', { method: 'GET', path: '/v1/mcp-servers', ...options });
  }
}

export class Web extends Resource {
  /** Which pages of the web agents may read; null: none. */
  read(options?: CallOptions): Promise<WebAccess | null> {
    return this.one('web', { method: 'GET', path: '/v1/web', ...options });
  }
}

/** Who belongs to the workspace. Only owners and admins change it, with a key of all ten scopes. */
export class Members extends Resource {
  list(options?: CallOptions): Promise<Member[]> {
    return this.one('members', { method: 'GET', path: '/v1/members', ...options });
  }
  /** 409 `member_exists`: its role is changed with {@link update}. */
  add(body: AddMember, options?: CallOptions): Promise<Member> {
    return this.one('member', { method: 'POST', path: '/v1/members', body, keyed: true, ...options });
  }
  /** 409 `last_owner`: the workspace would have no person as owner. */
  update(id: string, body: ChangeMember, options?: CallOptions): Promise<Member> {
    return this.one('member', { method: 'PATCH', path: `/v1/members/${segment(id)}`, body, ...options });
  }
  /** A link by which a person who has no key logs in once, within 72 hours. It is shown here alone. 409 `member_has_keys`. */
  invite(id: string, options?: CallOptions): Promise<Invitation> {
    return this.one('invitation', { method: 'POST', path: `/v1/members/${segment(id)}/invitation`, ...options });
  }
  /** @param query `transferTo`: the member who gets what it owns. */
  remove(id: string, query: { transferTo?: string } = {}, options?: CallOptions): Promise<Deleted> {
    return this.transport.json({ method: 'DELETE', path: `/v1/members/${segment(id)}`, query, ...options });
  }
}

/** Accounts for programs, and their keys: for owners and admins, with a key of all ten scopes. */
export class ServiceAccounts extends Collection {
  protected readonly root = '/v1/service-accounts';

  list(options?: CallOptions): Promise<ServiceAccount[]> {
    return this.one('serviceAccounts', { method: 'GET', path: this.root, ...options });
  }
  create(body: CreateServiceAccount, options?: CallOptions): Promise<ServiceAccount> {
    return this.one('serviceAccount', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }
  keys(id: string, options?: CallOptions): Promise<Key[]> {
    return this.one('keys', { method: 'GET', path: this.path(id, '/keys'), ...options });
  }
  /** The secret is shown here alone. */
  createKey(id: string, body: CreateServiceKey, options?: CallOptions): Promise<{ key: Key; secret: string }> {
    return this.transport.json({ ...this.post(id, '/keys', options), body });
  }
  deleteKey(id: string, keyId: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(this.path(id, `/keys/${segment(keyId)}`), options);
  }
}

const connectionsOf = (slug: string, id?: string) =>
  `/v1/integrations/${segment(slug)}/connections${id === undefined ? '' : `/${segment(id)}`}`;

/** With the secret of a connection. */
export interface MadeConnection {
  connection: IntegrationConnection;
  secret: string;
}

export class Integrations extends Resource {
  list(options?: CallOptions): Promise<Integration[]> {
    return this.one('integrations', { method: 'GET', path: '/v1/integrations', ...options });
  }
  get(slug: string, options?: CallOptions): Promise<Integration> {
    return this.one('integration', { method: 'GET', path: `/v1/integrations/${segment(slug)}`, ...options });
  }
  /** Your own, and for owners and admins the workspace's. */
  connections(slug: string, options?: CallOptions): Promise<IntegrationConnection[]> {
    return this.one('connections', { method: 'GET', path: connectionsOf(slug), ...options });
  }
  /** The secret, with which the provider signs, is shown here alone. 409 `connection_exists`. */
  connect(slug: string, body: Connect, options?: CallOptions): Promise<MadeConnection> {
    return this.transport.json({ method: 'POST', path: connectionsOf(slug), body, ...options });
  }
  /** The secret of before is taken too for `overlapSeconds`, a day when not given. */
  rotate(slug: string, id: string, body: RotateConnection = {}, options?: CallOptions): Promise<MadeConnection> {
    return this.transport.json({ method: 'POST', path: `${connectionsOf(slug, id)}/rotate`, body, ...options });
  }
  /** The provider's handshake, taken as one that arrives. 409 `test_not_available`: it has none. */
  test(slug: string, id: string, options?: CallOptions): Promise<IntegrationDelivery> {
    return this.one('delivery', { method: 'POST', path: `${connectionsOf(slug, id)}/test`, ...options });
  }
  disconnect(slug: string, id: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(connectionsOf(slug, id), options);
  }
  /** The last 100 that arrived, the newest first. */
  deliveries(slug: string, options?: CallOptions): Promise<IntegrationDelivery[]> {
    return this.one('deliveries', { method: 'GET', path: `/v1/integrations/${segment(slug)}/deliveries`, ...options });
  }
}

export class Billing extends Resource {
  summary(options?: CallOptions): Promise<BillingSummary> {
    return this.transport.json({ method: 'GET', path: '/v1/billing/summary', ...options });
  }
  usage(query?: { groupBy?: string; from?: string; to?: string }, options?: CallOptions): Promise<UsageRow[]> {
    return this.one('usage', { method: 'GET', path: '/v1/billing/usage', query, ...options });
  }
  /** The address of a page where the workspace pays, for a browser. 409 `no_payment_provider`. */
  checkout(body: Checkout, options?: CallOptions): Promise<PaymentPage> {
    return this.transport.json({ method: 'POST', path: '/v1/billing/checkout', body, ...options });
  }
  /** The address of a page where the workspace manages its subscription and finds its invoices. 409 `no_payment_provider`. */
  portal(body: Portal = {}, options?: CallOptions): Promise<PaymentPage> {
    return this.transport.json({ method: 'POST', path: '/v1/billing/portal', body, ...options });
  }
}

export class Audit extends Resource {
  list(query?: Query, options?: CallOptions): List<AuditEntry> {
    return this.all('/v1/audit', 'entries', query, options);
  }
}

/** What you are told of your tasks outside of the page. */
export class PersonalNotices extends Resource {
  get(options?: CallOptions): Promise<Notices> {
    return this.transport.json({ method: 'GET', path: '/v1/notices', ...options });
  }
  /** Replaces all of it: what is not given is off. */
  update(body: ChangeNotices, options?: CallOptions): Promise<Notices> {
    return this.transport.json({ method: 'PUT', path: '/v1/notices', body, ...options });
  }
  /** Adds a browser: `PushSubscription.toJSON()`. */
  subscribe(body: PushSubscription, options?: CallOptions): Promise<PushState> {
    return this.one('push', { method: 'POST', path: '/v1/notices/push', body, ...options });
  }
  unsubscribe(endpoint: string, options?: CallOptions): Promise<PushState> {
    return this.one('push', { method: 'DELETE', path: '/v1/notices/push', query: { endpoint }, ...options });
  }
  /** Resolves with to how many addresses a test is sent. */
  test(channel: 'push' | 'email' | 'hook', options?: CallOptions): Promise<number> {
    return this.one('queued', { method: 'POST', path: '/v1/notices/test', body: { channel }, ...options });
  }
}
