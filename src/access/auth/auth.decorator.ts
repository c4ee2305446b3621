import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { notesOf } from '../../platform/http/request-notes.js';
import type { AuthContext } from './auth-context.js';

type Known = Request & { auth?: AuthContext };

/** For the guard that has found out who asks. */
export function setAuth(req: Request, auth: AuthContext): void {
  (req as Known).auth = auth;
  Object.assign(notesOf(req), { workspaceId: auth.workspaceId, userId: auth.userId, keyId: auth.credential.id });
}

/** Whether a guard has found out who asks. */
export function isKnown(req: Request): boolean {
  return (req as Known).auth !== undefined;
}

export function authOf(req: Request): AuthContext {
  const { auth } = req as Known;
  if (auth === undefined) throw new Error(`${req.method} ${req.path} is public: nobody is known there.`);
  return auth;
}

/** `@Auth() auth: AuthContext`: who asks. */
export const Auth = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  authOf(context.switchToHttp().getRequest<Request>()),
);
