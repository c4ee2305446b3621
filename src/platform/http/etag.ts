// Validators of answers (RFC 9110 §8.8.3, §13.1.2).
import { hash } from 'node:crypto';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { endpointOf } from './endpoint.js';

/** Calls a handler, whose answer gets its tag where the route has `etag`. */
export function tagged(context: ExecutionContext, next: CallHandler): Observable<unknown> {
  if (endpointOf(context.getHandler())?.etag !== true) return next.handle();
  const http = context.switchToHttp();
  return next.handle().pipe(map((answer) => withTag(http.getRequest(), http.getResponse(), answer)));
}

function withTag(req: Request, res: Response, answer: unknown): string | undefined {
  const json = JSON.stringify(answer);
  const tag = weakTag(json);
  res.setHeader('ETag', tag);
  if (has(req.headers['if-none-match'], tag)) {
    res.status(304);
    return undefined;
  }
  // The text that the tag was made of: as an object it would be written a second time.
  res.type('application/json');
  return json;
}

/** The weak tag of an answer, its JSON: the same for the same answer, whatever brought it about. */
function weakTag(json: string): string {
  return `W/"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}

/** Whether a client has what the tag stands for, by the weak comparison that `If-None-Match` asks for. */
export function has(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = (one: string) => one.trim().replace(/^W\//, '');
  const given = (ifNoneMatch ?? '').split(',').map(opaque);
  return given.includes(opaque(tag)) || given.includes('*');
}

/** Whether a tag is among those of `If-Match`, by the strong comparison that it asks for (RFC 9110 §13.1.1). */
export function matches(ifMatch: string, tag: string): boolean {
  const given = ifMatch.split(',').map((one) => one.trim());
  return given.includes('*') || (!tag.startsWith('W/') && given.includes(tag));
}
