import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthContext } from './auth-context.js';

/** Where the bearer guard puts the {@link AuthContext} of a request. */
export const AUTH_PROPERTY = 'auth';

export function authOf(req: Request): AuthContext {
  const { auth } = req as { auth?: AuthContext };
  if (auth === undefined) throw new Error(`${req.method} ${req.path} is public: nobody is known there.`);
  return auth;
}

/** `@Auth() auth: AuthContext`: who asks. */
export const Auth = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  authOf(context.switchToHttp().getRequest<Request>()),
);
