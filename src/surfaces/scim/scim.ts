import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { wayOf } from '../../access/audit/sender.js';
import type { DirectoryRequest } from '../../access/provisioning/directory-request.js';
import { ScimTokens } from '../../access/provisioning/scim-tokens.js';
import { rateLimited, rateLimitHeaders } from '../../access/rate-limit/rate-limit-headers.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';
import { Env } from '../../platform/config/env.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { requireJson, welcome } from '../../platform/http/body.guard.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { type JsonObject, parseJsonObject } from '../../platform/http/json-body.js';
import { nothingHere } from '../../platform/http/not-found.js';
import { originOf } from '../../platform/http/origin.js';
import { drain, readBody } from '../../platform/http/read-body.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { announcesBody } from '../../platform/http/request.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { answerOf, SCIM_TYPE } from './answers.js';
import { Directories } from './directories.js';
import { type Exchange, type Kind, type Library, parametersOf, plain, scimmy } from './scimmy.js';
import { patchOf, withBooleans } from './spellings.js';

const BASE = '/scim/v2/';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const KINDS: Record<string, Kind | undefined> = { users: 'Users', groups: 'Groups' };

/** An answer: none has no body. */
interface Answer {
  status: number;
  body: object | null;
}

/** What is asked for: `Users/ID` and the rest of the path. */
interface Asked {
  kind: string;
  id: string | undefined;
}

/**
 * `/scim/v2`, by which a company's directory keeps the members of a workspace (reference §31, RFC 7644). No routes of a controller: its answers
 * have the form of SCIM, and it is no part of the API's document.
 */
@Injectable()
export class Scim implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly endpoints: EndpointExplorer,
    private readonly env: Env,
    private readonly tokens: ScimTokens,
    private readonly limiter: RateLimiter,
    private readonly turns: RequestSlots,
    private readonly directories: Directories,
  ) {}

  onModuleInit(): void {
    this.endpoints.answersBeside((path) => path.startsWith(BASE), METHODS);
    this.host.httpAdapter.use((req: Request, res: Response, next: NextFunction) => {
      if (!req.path.startsWith(BASE)) return next();
      this.answer(req, res).catch(next);
    });
  }

  private async answer(req: Request, res: Response): Promise<void> {
    // For the log, the figures and the audit log, which know requests by their route.
    req.route = { path: '/scim/v2/:resource' };
    const { status, body, headers } = await this.answered(req, res).catch(answerOf);
    if (announcesBody(req) && !req.complete) await drain(req);
    for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
    res.status(status).setHeader('Cache-Control', 'no-store');
    if (body === null) return void res.end();
    res.setHeader('Content-Type', SCIM_TYPE);
    res.end(JSON.stringify(body, withOrigin(originOf(req, this.env))));
  }

  private async answered(req: Request, res: Response): Promise<Answer & { headers?: Record<string, string> }> {
    if (!METHODS.includes(req.method)) throw nothingHere(this.endpoints, req);
    const directory = await this.identified(req);
    const charge = await this.limiter.charge(directory.id, directory.plan, 'resource_write');
    if (!charge.allowed) throw rateLimited('requests of this directory', charge);
    notesOf(req).workspaceId = directory.workspaceId;
    const library = await scimmy();
    const [kind = '', id, ...more] = req.path.slice(BASE.length).split('/').map(decoded);
    if (more.length > 0) throw notFound('resource');
    const asked = { kind: kind.toLowerCase(), id: id === '' ? undefined : id };
    const answer = await this.carriedOut(library, directory, asked, req, res);
    return { ...answer, headers: rateLimitHeaders(charge) };
  }

  private async carriedOut(
    library: Library,
    directory: DirectoryRequest,
    asked: Asked,
    req: Request,
    res: Response,
  ): Promise<Answer> {
    const kind = KINDS[asked.kind];
    if (kind === undefined) return { status: 200, body: await described(library, asked, req) };
    if (req.method === 'GET') return this.read(library, directory, kind, asked.id, req);
    const body = req.method === 'DELETE' ? {} : await received(req, res);
    return this.turns.write(req, res, () =>
      this.directories.changing(directory, (exchange) => write(library, exchange, kind, asked.id, req, body)),
    );
  }

  private async read(
    { Resources }: Library,
    directory: DirectoryRequest,
    kind: Kind,
    id: string | undefined,
    req: Request,
  ): Promise<Answer> {
    const Resource = kind === 'Users' ? Resources.User : Resources.Group;
    const parameters = parametersOf(req.query);
    const resource = readable(() => (id === undefined ? new Resource(parameters) : new Resource(id, parameters)));
    const read = (exchange: Exchange) => resource.read(exchange);
    return { status: 200, body: await this.directories.reading(directory, read) };
  }

  private async identified(req: Request): Promise<DirectoryRequest> {
    const [, token = ''] = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? '') ?? [];
    try {
      if (token === '')
        throw new ApiError(
          'missing_credential',
          'The token of a directory is expected: Authorization: Bearer mw_scim_….',
        );
      return { ...(await this.tokens.authenticate(token)), ...wayOf(req) };
    } catch (error) {
      throw await this.limiter.counted(error, req);
    }
  }
}

/** The library throws of a filter that it cannot read. */
function readable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ApiError('invalid_query', `The query cannot be read: ${error.message}`);
  }
}

/** Throws 404 for what is no text in UTF-8. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound('resource');
  }
}

async function write(
  { Resources }: Library,
  exchange: Exchange,
  kind: Kind,
  id: string | undefined,
  { method }: Request,
  body: JsonObject,
): Promise<Answer> {
  const Resource = kind === 'Users' ? Resources.User : Resources.Group;
  // Without the parameters of the query: a PATCH would change what `excludedAttributes` leaves of the resource.
  const resource = id === undefined ? new Resource() : new Resource(id);
  if (method === 'DELETE') {
    await resource.dispose(exchange);
    return { status: 204, body: null };
  }
  if (method === 'PATCH' && id !== undefined) {
    const current = plain(await resource.read(exchange));
    const patch = patchOf(body, current);
    // Nothing is left of operations that take away what is not there.
    const isEmpty = Array.isArray(patch['Operations']) && patch['Operations'].length === 0;
    const patched = isEmpty ? undefined : await resource.patch(patch, exchange);
    // The library says nothing of a resource that it finds unchanged.
    return { status: 200, body: patched ?? (await resource.read(exchange)) };
  }
  if ((method === 'POST') !== (id === undefined) || method === 'PATCH') throw notFound('resource');
  const written = await resource.write(withBooleans(body) as JsonObject, exchange);
  return { status: method === 'POST' ? 201 : 200, body: written };
}

/** What the service says of itself. */
async function described({ Resources, Messages }: Library, { kind, id }: Asked, req: Request): Promise<object> {
  if (req.method !== 'GET') throw notFound('resource');
  if (kind === 'serviceproviderconfig' && id === undefined) return new Resources.ServiceProviderConfig().read();
  const Resource = { schemas: Resources.Schema, resourcetypes: Resources.ResourceType }[kind];
  if (Resource === undefined) throw notFound('resource');
  const read = await (id === undefined ? new Resource() : new Resource(id)).read();
  return Array.isArray(read) ? new Messages.ListResponse(read) : read;
}

async function received(req: Request, res: Response): Promise<JsonObject> {
  const type = req.headers['content-type']?.replace(/^application\/scim\+json/i, 'application/json');
  requireJson(type, req.headers['content-encoding']);
  welcome(req, res);
  return parseJsonObject(await readBody(req));
}

/** Locations are whole (RFC 7643 §3.1). */
function withOrigin(origin: string): (key: string, value: unknown) => unknown {
  return (key, value) =>
    key === 'location' && typeof value === 'string' && value.startsWith(BASE) ? origin + value : value;
}
