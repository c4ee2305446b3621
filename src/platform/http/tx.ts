import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { UnitOfWork } from '../database/unit-of-work.js';

const UNITS = new WeakMap<Request, UnitOfWork>();

/** Keeps the transaction that an interceptor has opened for a request. */
export function setUnitOfWork(req: Request, tx: UnitOfWork): void {
  UNITS.set(req, tx);
}

/** `@Tx() tx: UnitOfWork`: the transaction of this writing request. */
export const Tx = createParamDecorator((_data: undefined, context: ExecutionContext): UnitOfWork => {
  const tx = UNITS.get(context.switchToHttp().getRequest<Request>());
  if (tx !== undefined) return tx;
  const name = `${context.getClass().name}.${context.getHandler().name}`;
  throw new Error(`${name} takes @Tx, but its @Endpoint does not say 'transaction: true'.`);
});
