// What is said of every request when its answer has gone: a line of the log, and a span for a collector.
import type { NextFunction, Request, Response } from 'express';
import type { PinoLogger } from '../logging/pino-logger.js';
import type { Tracing } from '../tracing/tracing.js';
import { requestIdOf } from './request.js';
import { type Notes, notesOf, routeOf } from './request-notes.js';

type Middleware = (req: Request, res: Response, next: NextFunction) => void;

/** Of the client's own request id, which nothing uses: it may be 16 KiB long. */
const CLIENTS_ID = 200;
/** Probes and scrapers ask every few seconds. */
const PROBES = /^\/(health\/|metrics$)/;

/**
 * Logs one line for each request, at `info`; of probes at `debug`. It has the route, not the path, and no credential, query or
 * body: those hold what clients keep to themselves.
 */
export function requestLog({ pino }: PinoLogger): Middleware {
  return (req, res, next) => {
    const began = performance.now();
    if (notesOf(req).within !== undefined) return next();
    const level = PROBES.test(req.path) ? 'debug' : 'info';
    res.once('close', () => {
      const { workspaceId, userId, keyId, tool } = notesOf(req);
      pino[level]({
        context: 'http',
        requestId: requestIdOf(res),
        clientRequestId: req.get('x-request-id')?.slice(0, CLIENTS_ID),
        method: req.method,
        route: routeOf(req),
        tool,
        status: statusOf(res),
        ms: Math.round((performance.now() - began) * 10) / 10,
        bytes: Number(res.getHeader('Content-Length') ?? 0),
        workspaceId,
        userId,
        keyId,
      });
    });
    next();
  };
}

/** Begins a span for each request but probes, below the one that its `traceparent` names (W3C Trace Context). */
export function requestSpans(tracing: Tracing): Middleware {
  return (req, res, next) => {
    if (PROBES.test(req.path) || notesOf(req).within !== undefined) return next();
    const parent = req.get('traceparent');
    const span = tracing.begin(req.method, { parent, state: req.get('tracestate'), server: true });
    const notes = notesOf(req);
    if (span !== undefined) notes.span = span;
    res.once('close', () => {
      const route = routeOf(req);
      if (route !== null) span?.rename(`${req.method} ${route}`);
      const status = res.statusCode;
      const ids = { 'millwright.workspace.id': notes.workspaceId, 'millwright.request.id': requestIdOf(res) };
      const http = { 'http.request.method': req.method, 'http.response.status_code': status };
      const failure = !res.writableFinished ? 'aborted' : status >= 500 ? String(status) : undefined;
      span?.end({ ...ids, ...http, ...(route === null ? {} : { 'http.route': route }), ...toolOf(notes) }, failure);
    });
    next();
  };
}

const toolOf = ({ tool }: Notes) => (tool === undefined ? {} : { 'millwright.tool': tool });

function statusOf(res: Response): number | 'aborted' {
  return res.writableFinished ? res.statusCode : 'aborted';
}
