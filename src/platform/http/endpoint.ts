import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import type { z } from 'zod';
import type { ErrorStatus } from './api-error.js';
import { WriteInterceptor } from './write.interceptor.js';

export const SCOPES = [
  'projects:read',
  'projects:write',
  'tasks:read',
  'tasks:write',
  'files:read',
  'files:write',
  'billing:read',
  'integrations:read',
  'automations:read',
  'automations:write',
] as const;
/** One of the ten, or one of an extension: its name with `:read` or `:write`. The boot refuses a route with an unknown one. */
export type Scope = (typeof SCOPES)[number] | ExtensionScope;
export type ExtensionScope = `${string}:${'read' | 'write'}`;

export const POLICIES = ['metadata_read', 'resource_read', 'resource_write', 'task_execution', 'file_upload'] as const;
/** One of the five, or one of an extension. The boot refuses a route with an unknown one. */
export type RateLimitPolicy = (typeof POLICIES)[number] | (string & Record<never, never>);

/** An answer that is not simply JSON with the route's own status. */
export interface DocumentedAnswer {
  description: string;
  /** Media type → schema of the JSON, or null for bytes and text. None: no body. */
  content?: Record<string, z.ZodType | null>;
  /** Name → what it says. */
  headers?: Record<string, string>;
}

/**
 * The whole contract of a route. Guards, interceptors, the document and the boot check read it; a route without one stops
 * the boot.
 */
export interface EndpointContract {
  /** What it does, in the imperative and without a full stop: `Create a task`. */
  summary: string;
  /** What more there is to know, in Markdown. */
  description?: string;
  /** The JSON of a success; or all successes by status, for routes that answer with something else too. */
  answer: z.ZodType | Record<number, DocumentedAnswer>;
  /** Statuses of errors beyond those that the document has for every route of its kind. */
  errors?: readonly ErrorStatus[];
  /** The rate-limit bucket beside the global one (reference §9); null for routes without a credential. */
  policy: RateLimitPolicy | null;
  /**
   * All of these are needed; `any`: one of those that exist, or a personal key; `personal`: a personal key, whatever its scopes and
   * its owner's role; `administration`: a personal key of an owner or admin with all ten; `public`: no credential is looked at.
   */
  scopes: readonly Scope[] | 'any' | 'personal' | 'administration' | 'public';
  /** Of a write whose scopes do not say so: viewers only read. */
  notForViewers?: true;
  /** For owners and admins of the workspace alone, whatever their scopes say. */
  administrators?: true;
  /** Scopes that depend on the body, and when they are needed: `{ 'files:write': 'attachments are sent' }`. */
  conditionalScopes?: Partial<Record<Scope, string>>;
  /** Whether the handler writes: it gets `@Tx`, one transaction that is committed before the answer goes. */
  transaction?: true;
  /**
   * Of a write that locks memberships of others: the handler holds that of its caller by itself, in one order with them (`lockMembers`).
   * Around all other writes the unit of work holds it first.
   */
  locksMembers?: true;
  /** Waits for a server of somebody else, for seconds: it takes no turn (`RequestSlots`), and bounds by itself what it asks. */
  asksOutside?: true;
  /** Brings new data: refused with 503 `storage_full` while the disk is below its reserve (reference §16). `file`: a file above all, which may be kept elsewhere. */
  stores?: true | 'file';
  /** `Idempotency-Key`: needed, accepted, or ignored (default). */
  idempotency?: 'required' | 'optional';
  /**
   * The field of the body that asks for a rehearsal: with `true` the handler checks all and writes nothing, its `@Tx` is null, the
   * answer is 200 without `Location`, and an `Idempotency-Key` is not looked at.
   */
  rehearsal?: string;
  /**
   * `json` (default where the handler takes a @Body): read and checked first; `stream`: the handler reads it; `raw`: so it does, as the
   * bytes that somebody has signed; else `none`.
   */
  body?: 'json' | 'none' | 'stream' | 'raw';
  /** Query parameters that the handler does not take are 400, unless `ignored` (reference §1): probes and browsers add some. */
  query?: 'ignored';
  /** Pages of other origins are refused before anything else is looked at: 403 `origin_not_allowed`. */
  origin?: 'own';
  /** The handler takes its request from the buckets by itself, once, when it knows by which policy; `policy` is that of most. */
  ownCharge?: true;
  /** What a `stream` is, when it is no form with one file: a media type. */
  accepts?: string;
  /** The name of what it does in the audit log, where that does not follow from its path: `task.answer` (reference §14). */
  action?: string;
  /** Of a read: its answer has a weak `ETag`, which stands for all of it, and is 304 for a client that has it (`If-None-Match`). */
  etag?: true;
  /** `Location` of a 201, filled in from the answer, `/v1/tasks/{task.id}`, and from the path, `/v1/accounts/:accountId/keys/{key.id}`. */
  location?: string;
}

const ENDPOINT = 'millwright:endpoint';

/**
 * States the contract of a route. `transaction: true` puts the interceptor of writes around this route alone, and so does
 * `location`, which it sets: one around all routes would wrap each read in observables that do nothing for it
 * (docs/decisions/0017).
 */
export function Endpoint(contract: EndpointContract): MethodDecorator {
  const stated = SetMetadata(ENDPOINT, contract);
  const intercepted = contract.transaction === true || contract.location !== undefined;
  return intercepted ? applyDecorators(stated, UseInterceptors(WriteInterceptor)) : stated;
}

/** The contract of a handler, or undefined. */
export function endpointOf(handler: object): EndpointContract | undefined {
  return Reflect.getMetadata(ENDPOINT, handler) as EndpointContract | undefined;
}

/**
 * Fills a template such as `/v1/accounts/:accountId/keys/{key.id}` from an answer and the parameters of the request's path, which the
 * answer may not repeat.
 */
export function locationOf(template: string, answer: unknown, params: Record<string, unknown> = {}): string {
  return template.replace(/\{([^}]+)\}|:(\w+)/g, (_whole, path: string | undefined, name: string) => {
    if (path === undefined) return encodeURIComponent(String(params[name]));
    const found = path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], answer);
    return encodeURIComponent(String(found));
  });
}

/** A route is a write when one of its scopes ends in `:write` (reference §1). */
export function writes(contract: Pick<EndpointContract, 'scopes'>): boolean {
  return Array.isArray(contract.scopes) && contract.scopes.some((scope: Scope) => scope.endsWith(':write'));
}
