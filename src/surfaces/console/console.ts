import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { nothingHere } from '../../platform/http/not-found.js';
import { ConsoleFiles } from './console-files.js';
import { SessionEndpoint } from './session-endpoint.js';

const SESSION = '/console/session';
const isFile = (path: string) => path === '/console' || (path.startsWith('/console/') && path !== SESSION);

/**
 * What is below /console. No routes of a controller: those are the API, with a contract each, and stand in its document. Requests come
 * here after the routes, so they cost the API nothing.
 */
@Injectable()
export class Console implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly endpoints: EndpointExplorer,
    private readonly files: ConsoleFiles,
    private readonly sessions: SessionEndpoint,
  ) {}

  onModuleInit(): void {
    this.endpoints.answersBeside(isFile, ['GET']);
    this.endpoints.answersBeside((path) => path === SESSION, ['DELETE', 'POST']);
    this.host.httpAdapter.use((req: Request, res: Response, next: NextFunction) => {
      this.answer(req, res, next).catch(next);
    });
  }

  private async answer(req: Request, res: Response, next: NextFunction): Promise<void> {
    const { method, path } = req;
    const session = path === SESSION;
    if (!session && !isFile(path)) return next();
    // For the log, the figures and the audit log, which know requests by their route.
    req.route = { path: session ? SESSION : '/console/:file' };
    if (session && method === 'POST') await this.sessions.logIn(req, res);
    else if (session && method === 'DELETE') await this.sessions.logOut(req, res);
    else if (!session && (method === 'GET' || method === 'HEAD')) await this.files.answer(req, res);
    else throw nothingHere(this.endpoints, req);
  }
}
