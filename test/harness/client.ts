import type { TestApp } from './app.js';
import { checkAnswer } from './contract.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import type { Role } from '../../src/access/auth/auth-context.js';
import type { Plan } from '../../src/platform/config/rate-limits.js';
import type { Scope } from '../../src/platform/http/endpoint.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  /** Exactly as sent. */
  text: string;
  /** Parsed; an empty object when there is no body. */
  body: T;
}

export interface ErrorBody {
  error: { type: string; message: string; requestId: string; code: string; param: string | null; retryable: boolean };
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, with the content type of `headers`. */
  raw?: string | Uint8Array | ReadableStream;
}

/** Speaks HTTP to a booted service. Every answer must be one that the service's own document describes. */
export class Client {
  constructor(
    private readonly url: string,
    /** A key, or null to send no credential. */
    private readonly secret: string | null = null,
  ) {}

  as(secret: string | null): Client {
    return new Client(this.url, secret);
  }

  get<T = Record<string, unknown>>(path: string, options?: RequestOptions): Promise<Answer<T>> {
    return this.request('GET', path, options);
  }

  /** With an `Idempotency-Key` of its own unless one is given. */
  post<T = Record<string, unknown>>(path: string, json?: unknown, options: RequestOptions = {}): Promise<Answer<T>> {
    const headers = { 'Idempotency-Key': crypto.randomUUID(), ...options.headers };
    return this.request('POST', path, { ...(json === undefined ? {} : { json }), ...options, headers });
  }

  patch<T = Record<string, unknown>>(path: string, json: unknown, options?: RequestOptions): Promise<Answer<T>> {
    return this.request('PATCH', path, { json, ...options });
  }

  delete<T = Record<string, unknown>>(path: string, options?: RequestOptions): Promise<Answer<T>> {
    return this.request('DELETE', path, options);
  }

  async request<T = Record<string, unknown>>(
    method: string,
    path: string,
    { headers = {}, json, raw }: RequestOptions = {},
  ): Promise<Answer<T>> {
    const body = json === undefined ? raw : JSON.stringify(json);
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.secret === null ? {} : { Authorization: `Bearer ${this.secret}` }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    });
    const text = await response.text();
    await checkAnswer(this.url, { method, path, status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, body: parse(text) as T };
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

export interface Member {
  workspace: { id: string; slug: string };
  user: { id: string; email: string };
  key: { id: string; secret: string; prefix: string };
  client: Client;
}

interface MemberOptions {
  /** Joins this workspace instead of a new one. */
  workspace?: { id: string; slug: string };
  /** Of the new workspace. */
  plan?: Plan;
  role?: Role;
  scopes?: readonly Scope[];
  lifetimeSeconds?: number | null;
}

let count = 0;

/** A new user with a key, in a new workspace or a given one; through the services that the operator command calls. */
export async function makeMember({ app, url }: TestApp, options: MemberOptions = {}): Promise<Member> {
  const { plan = 'paid', role = 'member', scopes = app.get(ExtensionSet).scopes } = options;
  const { lifetimeSeconds = null } = options;
  const n = ++count;
  const workspace = options.workspace ?? (await app.get(WorkspacesService).create({ name: `Workspace ${n}`, plan }));
  const user = await app.get(UsersService).create({ email: `user${n}@example.test`, name: `User ${n}` });
  await app.get(MembershipsService).add(workspace.id, user.id, role);
  const key = await app
    .get(KeysService, { strict: false })
    .create({ workspaceId: workspace.id, userId: user.id, name: 'test', scopes, lifetimeSeconds });
  return { workspace, user, key, client: new Client(url, key.secret) };
}
