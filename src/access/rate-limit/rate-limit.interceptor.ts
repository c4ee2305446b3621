import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { tagged } from '../../platform/http/etag.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { type Charge, rateLimitHeaders } from './rate-limit-headers.js';

/**
 * Writes what is left after the charge of a request, once. The interceptor calls it before the handler, and the error filter for what
 * a guard refused: Nest runs no interceptor then (docs/decisions/0070).
 */
export function writeRateLimit(req: Request, res: Response): void {
  const notes = notesOf(req);
  const charge = notes.charge as Charge | undefined;
  if (charge === undefined || res.headersSent) return;
  notes.charge = undefined;
  const headers = rateLimitHeaders(charge);
  for (const name in headers) res.setHeader(name, headers[name] as string);
}

/**
 * Writes the headers that the charge of {@link RateLimitGuard} gives: before the handler, so that a stream and a replay have them too. The
 * tag of an answer is made here as well: an interceptor of its own would cost a read 2 µs.
 */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    writeRateLimit(http.getRequest(), http.getResponse());
    return tagged(context, next);
  }
}
