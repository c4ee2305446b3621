// Sets up the application before it listens: Express's settings, the first middleware, the limits of the server.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { Express, NextFunction, Request, Response } from 'express';
import { ConfigurationError, type Env } from '../config/env.js';
import { Metrics } from '../metrics/metrics.js';
import { Connections, SWEEP_MS } from './connections.js';
import { EndpointExplorer } from './endpoint-explorer.js';
import { PinoLogger } from '../logging/pino-logger.js';
import { refuseBrokenRequest, refuseTunnel, wrongHost } from './broken-request.js';
import { noSuchPath, nothingHere } from './not-found.js';
import { accepts, plainTarget } from './request.js';
import { requestLog, requestSpans } from './request-log.js';
import { RequestSlots } from './request-slots.js';
import { notesOf } from './request-notes.js';
import { newId } from '../database/ids.js';
import { secretsOf } from '../logging/redaction.js';
import { Tracing } from '../tracing/tracing.js';

/** The program and the test harness call this before `listen` or `init`. They create the app with `bodyParser: false`. */
export function configureHttp(
  app: INestApplication,
  env: Env,
  logger: PinoLogger = new PinoLogger(env.variables.LOG_LEVEL, { secrets: secretsOf(env) }),
): void {
  app.useLogger(logger);
  const express = app.getHttpAdapter().getInstance() as Express;
  express.disable('x-powered-by');
  express.disable('etag');
  // Express would answer any GET with `If-None-Match: *` by a bare 304. Only file content has a validator, and it checks that itself.
  Object.defineProperty(express.request, 'fresh', { get: () => false });
  express.set('query parser', 'simple');
  trustProxy(express, env.variables.TRUST_PROXY);
  // A path has one spelling: under a second one a repeated request would be a new one to its Idempotency-Key. The options go to
  // the router itself, because Nest's adapter has made it by now and it does not read the settings again.
  Object.assign(express.router, { strict: true, caseSensitive: true });
  app.use(app.get(Metrics, { strict: false }).middleware);
  app.use(stampResponse);
  const connections = app.get(Connections, { strict: false });
  app.use(connections.middleware);
  if (logger.pino.isLevelEnabled('info')) app.use(requestLog(logger));
  const tracing = app.get(Tracing, { strict: false });
  if (tracing.on) app.use(requestSpans(tracing));
  if (!env.servesApi) app.use(onlyHealth);
  const explorer = app.get(EndpointExplorer, { strict: false });
  app.use((req: Request, _res: Response, next: NextFunction) => {
    // Express would answer OPTIONS by itself.
    next(wrongHost(req) ?? (req.method === 'OPTIONS' ? nothingHere(explorer, req) : undefined));
  });
  app.get(RequestSlots, { strict: false }).watch(express.response);
  app.use(showPage(env.servesConsole ? '/console/' : '/docs'));
  const server = app.getHttpServer() as Server;
  limit(server);
  connections.watch(server, express.get('trust proxy fn') as (address: string, hop: number) => boolean);
}

/** The modules of a worker bring all routes; the worker serves these alone. */
function onlyHealth(req: Request, _res: Response, next: NextFunction): void {
  next(/^\/(health\/|metrics$)/.test(req.path) ? undefined : noSuchPath());
}

/** A browser at the bare address gets a page; a program gets the 404 that names the documentation. */
function showPage(Location: '/console/' | '/docs') {
  return (req: Request, res: Response, next: NextFunction): void => {
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (req.path !== '/' || !reads || !accepts(req, 'text/html')) return next();
    res.writeHead(302, { Location, Vary: 'Accept' }).end();
  };
}

function stampResponse(req: Request, res: Response, next: NextFunction): void {
  if (req.url.includes('%')) req.url = plainTarget(req.url);
  res.setHeader('X-Request-Id', notesOf(req).within ?? newId());
  res.setHeader('X-Content-Type-Options', 'nosniff');
  // By the path: a request target may be a whole URL (RFC 9112, section 3.2.2).
  if (req.path.startsWith('/v1/') || req.path === '/v1' || req.path === '/mcp')
    res.setHeader('Cache-Control', 'no-store');
  next();
}

function trustProxy(express: Express, value: string | undefined): void {
  if (value === undefined) return;
  const wrong = new ConfigurationError(
    'TRUST_PROXY: the number of proxies in front, or their addresses and subnets separated by commas, is expected.',
  );
  if (/^\d{1,2}$/.test(value)) {
    express.set('trust proxy', Number(value));
    return;
  }
  try {
    express.set(
      'trust proxy',
      value.split(',').map((part) => part.trim()),
    );
  } catch {
    throw wrong;
  }
}

/** Sets the server's limits, in milliseconds; {@link Connections} has those of answers. */
function limit(server: Server): void {
  // Also for a connection that sends nothing at all.
  server.headersTimeout = 10_000;
  // An upload may take ten minutes. Other bodies have less: see readBody.
  server.requestTimeout = 600_000;
  // The usual balancers keep idle connections for a minute. With a shorter time here they would use one that is half closed.
  server.keepAliveTimeout = 65_000;
  // Node would tell the client to send its body before the guards have run. The body guard does it after the others.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  // A server may ignore an expectation that it does not know (RFC 9110 §10.1.1). Node would answer it without a body.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  server.on('clientError', refuseBrokenRequest);
  server.on('connect', refuseTunnel);
  // Nest has made the server by now, so its options are set afterwards. For the host see wrongHost; Node's own interval of half a minute
  // would give a head four times its time.
  Object.assign(server, { requireHostHeader: false, connectionsCheckingInterval: SWEEP_MS });
}
