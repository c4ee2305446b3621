import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { UnitOfWork } from '../database/unit-of-work.js';

const UNITS = new WeakMap<Request, UnitOfWork>();

/** Keeps the transaction that an interceptor has opened for a request. */
export function setUnitOfWork(req: Request, tx: UnitOfWork): void {
  UNITS.set(req, tx);
}

/** `@Tx() tx: UnitOfWork`: the transaction of this writing request. */
export const Tx = createParamDecorator(unitOfWorkOf);

/** The factory of {@link Tx}, by which the boot finds the handlers that take it. */
export function unitOfWorkOf(_data: undefined, context: ExecutionContext): UnitOfWork {
  const tx = UNITS.get(context.switchToHttp().getRequest<Request>());
  if (tx === undefined) throw new Error('This request has no transaction.');
  return tx;
}
