import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { UnitOfWork } from '../database/unit-of-work.js';

const UNITS = new WeakMap<Request, UnitOfWork | null>();

/** Keeps the transaction that an interceptor has opened for a request; null for a rehearsal, which writes nothing. */
export function setUnitOfWork(req: Request, tx: UnitOfWork | null): void {
  UNITS.set(req, tx);
}

/** `@Tx() tx: UnitOfWork`: the transaction of this writing request. Of a route that rehearses `UnitOfWork | null`. */
export const Tx = createParamDecorator(unitOfWorkOf);

/** The factory of {@link Tx}, by which the boot finds the handlers that take it. */
export function unitOfWorkOf(_data: undefined, context: ExecutionContext): UnitOfWork | null {
  const tx = UNITS.get(context.switchToHttp().getRequest<Request>());
  if (tx === undefined) throw new Error('This request has no transaction.');
  return tx;
}
