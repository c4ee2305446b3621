import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DiskSpace } from '../disk/disk-space.js';
import { ApiError } from './api-error.js';
import { EndpointExplorer, type Route } from './endpoint-explorer.js';
import { invalid, type JsonObject, parseJsonObject } from './json-body.js';
import { readBody } from './read-body.js';
import { announcesBody } from './request.js';
import { RequestSlots } from './request-slots.js';

/**
 * Reads the body after the other guards have let the request in (reference §1), so an unknown caller makes the service parse
 * nothing. Routes with `body: 'stream'` or `'raw'` read their body themselves. This is a guard and no interceptor: Nest wraps all that
 * follows an interceptor in observables, and a read has no need of that.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(
    private readonly endpoints: EndpointExplorer,
    private readonly space: DiskSpace,
    private readonly turns: RequestSlots,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const req = http.getRequest<Request>();
    const route = this.endpoints.of(context.getHandler());
    this.turns.arrived(req);
    // Before the body: an upload would be on the disk by the time its handler runs.
    if (route.contract.stores === true) this.space.require();
    else if (route.contract.stores === 'file') this.space.requireForFile();
    const present = announcesBody(req);
    if (present) welcome(req, http.getResponse());
    const bytes = await received(route, req, present);
    // When the body is there: a slow sender has no turn. Writes take theirs with their transaction.
    if (route.takesTurn && route.contract.transaction !== true) await this.turns.read(req, http.getResponse());
    if (route.body === 'json') req.body = present || !route.bodyOptional ? await this.parsed(req, bytes) : {};
    else if (route.body === 'none') expectNothing(bytes);
    refuseQuery(route, req);
    return true;
  }

  private parsed(req: Request, bytes: Buffer): Promise<JsonObject> | JsonObject {
    return bytes.length < LONG ? parseJsonObject(bytes) : this.turns.parse(req, () => parseJsonObject(bytes));
  }
}

/** Tells a client that asked with `Expect: 100-continue` to send its body. */
export function welcome(req: Request, res: Response): void {
  const { expect } = req.headers;
  if (expect === undefined) return;
  if (expect.toLowerCase() === '100-continue') res.writeContinue();
  delete req.headers.expect;
}

const NOTHING = Buffer.alloc(0);
/** Bytes of a body that is parsed in a turn. */
const LONG = 16 * 1024;

/** The body of a route that does not read it itself. */
function received({ body, bodyOptional }: Route, req: Request, present: boolean): Promise<Buffer> | Buffer {
  if (body === 'stream' || body === 'raw') return NOTHING;
  if (body === 'json') {
    if (!present && bodyOptional) return NOTHING;
    if (!present) throw invalid('A JSON object is expected as the body.');
    requireJson(req.headers['content-type'], req.headers['content-encoding']);
  }
  return present ? readBody(req) : NOTHING;
}

/** What clients call UTF-8 in a `charset`, in small letters; some quote it (RFC 9110 §8.3.2). */
const UTF8 = /^(?:utf-?8|"utf-?8")$/;

/** 415 for anything but plain JSON in UTF-8. */
export function requireJson(type: string | undefined, encoding: string | undefined): void {
  const [mediaType, ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length);
  if (mediaType !== 'application/json' || (charset !== undefined && !UTF8.test(charset))) {
    throw new ApiError('unsupported_media_type', 'The body must have the content type application/json, in UTF-8.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_media_type', 'The body must be sent without a content encoding.');
  }
}

function expectNothing(bytes: Buffer): void {
  const text = bytes.toString('utf8').trim();
  if (text !== '' && !/^\{\s*\}$/.test(text)) throw invalid('This operation takes no body.');
}

function refuseQuery(route: Route, req: Request): void {
  if (!route.takesQuery && route.contract.query !== 'ignored') refuseAnyQuery(req);
}

/** Throws 400 `invalid_query` where there is a parameter. */
export function refuseAnyQuery(req: Request): void {
  if (!req.url.includes('?')) return;
  const [name] = Object.keys(req.query);
  if (name === undefined) return;
  throw new ApiError('invalid_query', `The query parameter "${name}" is not known here.`, { param: name });
}
