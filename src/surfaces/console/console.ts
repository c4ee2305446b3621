import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { SignInProvider } from '../../access/sign-in/sign-in-provider.js';
import { EndpointExplorer } from '../../platform/http/endpoint-explorer.js';
import { nothingHere } from '../../platform/http/not-found.js';
import { ConsoleFiles } from './console-files.js';
import { DEVICE, DEVICE_CODE, DEVICE_TOKEN, DeviceEndpoint } from './device-endpoint.js';
import { SessionEndpoint } from './session-endpoint.js';
import { CALLBACK, SIGN_IN, SignInEndpoint } from './sign-in-endpoint.js';

const SESSION = '/console/session';
const isFile = (path: string) => path === '/console' || path.startsWith('/console/');

type Act = (req: Request, res: Response) => Promise<void>;

/**
 * What is below /console. No routes of a controller: those are the API, with a contract each, and stand in its document. Requests come
 * here after the routes, so they cost the API nothing.
 */
@Injectable()
export class Console implements OnModuleInit {
  /** What is no file, by its path, with what is done by method. */
  private readonly special = new Map<string, Partial<Record<string, Act>>>([
    [
      SESSION,
      { DELETE: (req, res) => this.sessions.logOut(req, res), POST: (req, res) => this.sessions.logIn(req, res) },
    ],
  ]);
  private readonly file: Act = (req, res) => this.files.answer(req, res);

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly endpoints: EndpointExplorer,
    private readonly files: ConsoleFiles,
    private readonly sessions: SessionEndpoint,
    private readonly provider: SignInProvider,
    private readonly signIn: SignInEndpoint,
    private readonly devices: DeviceEndpoint,
  ) {}

  onModuleInit(): void {
    if (this.provider.config !== null) {
      this.special.set(SIGN_IN, { GET: (req, res) => this.signIn.begin(req, res) });
      this.special.set(DEVICE, { GET: this.file, POST: (req, res) => this.devices.begin(req, res) });
      this.special.set(DEVICE_TOKEN, { POST: (req, res) => this.devices.take(req, res) });
      this.special.set(DEVICE_CODE, { POST: (req, res) => this.devices.answer(req, res) });
      this.special.set(CALLBACK, { GET: (req, res) => this.signIn.finish(req, res) });
    }
    this.endpoints.answersBeside((path) => isFile(path) && !this.special.has(path), ['GET']);
    for (const [at, acts] of this.special) this.endpoints.answersBeside((path) => path === at, Object.keys(acts));
    this.host.httpAdapter.use((req: Request, res: Response, next: NextFunction) => {
      this.answer(req, res, next).catch(next);
    });
  }

  private async answer(req: Request, res: Response, next: NextFunction): Promise<void> {
    const { method, path } = req;
    const special = this.special.get(path);
    if (special === undefined && !isFile(path)) return next();
    // For the log, the figures and the audit log, which know requests by their route.
    req.route = { path: special === undefined ? '/console/:file' : path };
    const read = method === 'HEAD' ? 'GET' : method;
    const act = special === undefined ? { GET: this.file }[read] : special[method];
    if (act === undefined) throw nothingHere(this.endpoints, req);
    await act(req, res);
  }
}
