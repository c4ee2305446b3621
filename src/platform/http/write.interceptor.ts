import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';

/** Stands around the handlers of writing routes. `src/access/idempotency` implements it, because it is built on this folder. */
export abstract class WriteTransactions implements NestInterceptor {
  abstract intercept(context: ExecutionContext, next: CallHandler): Observable<unknown>;
}

/** Nest makes one for each module whose routes write; all of them use the same transactions. */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(private readonly transactions: WriteTransactions) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return this.transactions.intercept(context, next);
  }
}
