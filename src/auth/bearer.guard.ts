import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import passport from 'passport';
import { endpointOf } from '../http/endpoint.js';
import { AUTH_PROPERTY } from './auth.decorator.js';
import { BearerStrategy } from './bearer.strategy.js';

type Middleware = (req: Request, res: Response, next: (error?: Error | null) => void) => void;

/** 401 for whoever is not known; routes of scope `public` pass. */
@Injectable()
export class BearerGuard implements CanActivate {
  /** Made once: Nest's `AuthGuard` makes its like for each request. */
  private readonly authenticate: Middleware;

  constructor({ name }: BearerStrategy) {
    const options = { session: false, assignProperty: AUTH_PROPERTY, authInfo: false };
    this.authenticate = passport.authenticate(name, options) as Middleware;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (endpointOf(context.getHandler())?.scopes === 'public') return true;
    const http = context.switchToHttp();
    const [req, res] = [http.getRequest<Request>(), http.getResponse<Response>()];
    await new Promise<void>((resolve, reject) => {
      this.authenticate(req, res, (error) => (error ? reject(error) : resolve()));
    });
    return true;
  }
}
