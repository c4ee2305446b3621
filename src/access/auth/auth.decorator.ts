import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { notesOf } from '../../platform/http/request-notes.js';
import type { AuthContext } from './auth-context.js';

/** For the guard that has found out who asks. */
export function setAuth(req: Request, auth: AuthContext): void {
  const notes = notesOf(req);
  notes.auth = auth;
  notes.workspaceId = auth.workspaceId;
  notes.userId = auth.userId;
  notes.keyId = auth.credential.id;
}

/** Whether a guard has found out who asks. */
export function isKnown(req: Request): boolean {
  return notesOf(req).auth !== undefined;
}

export function authOf(req: Request): AuthContext {
  const auth = notesOf(req).auth as AuthContext | undefined;
  if (auth === undefined) throw new Error(`${req.method} ${req.path} is public: nobody is known there.`);
  return auth;
}

/** `@Auth() auth: AuthContext`: who asks. */
export const Auth = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  authOf(context.switchToHttp().getRequest<Request>()),
);
