// What every request passes, in the order in which it runs. Before it: request id and route (404, 405).
import { Global, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AuditModule } from './access/audit/audit.module.js';
import { AuditedErrorFilter } from './access/audit/audited-error.filter.js';
import { AuthModule } from './access/auth/auth.module.js';
import { BearerGuard } from './access/auth/bearer.guard.js';
import { ScopeGuard } from './access/auth/scope.guard.js';
import { BodyGuard } from './platform/http/body.guard.js';
import { WriteTransactions } from './platform/http/write.interceptor.js';
import { FieldsPipe } from './platform/http/fields.pipe.js';
import { UnitOfWorkInterceptor } from './access/idempotency/unit-of-work.interceptor.js';
import { IdempotencyModule } from './access/idempotency/idempotency.module.js';
import { RateLimitGuard } from './access/rate-limit/rate-limit.guard.js';
import { RateLimitInterceptor } from './access/rate-limit/rate-limit.interceptor.js';
import { RateLimitModule } from './access/rate-limit/rate-limit.module.js';

export const PIPELINE: Provider[] = [
  // 403: a page of another origin, where the route says so. 401: key, membership, user and workspace in one look at the database. 429: too many failures from one address.
  { provide: APP_GUARD, useClass: BearerGuard },
  // 429: one request is taken from both buckets of the key, or from none.
  { provide: APP_GUARD, useClass: RateLimitGuard },
  // 403: the route's scopes, then the role.
  { provide: APP_GUARD, useClass: ScopeGuard },
  // 400, 413, 415: only now is the body read, as strict JSON.
  { provide: APP_GUARD, useClass: BodyGuard },
  // What is left of the buckets, on the answer of whatever handler; 304 by the `etag` of its @Endpoint. Errors have the first by the filter below.
  { provide: APP_INTERCEPTOR, useClass: RateLimitInterceptor },
  // 400, 409, replay: around writes alone, by `transaction: true` of their @Endpoint; opens the transaction, claims the key.
  { provide: WriteTransactions, useClass: UnitOfWorkInterceptor },
  // 400: body and query against their DTO classes.
  { provide: APP_PIPE, useClass: FieldsPipe },
  // Whatever was thrown on the way becomes one shape, with the same rate limit headers; refusals go on record after the answer.
  { provide: APP_FILTER, useClass: AuditedErrorFilter },
];

/** Global, because each module whose routes write asks for its transactions. */
@Global()
@Module({
  imports: [AuditModule, AuthModule, RateLimitModule, IdempotencyModule],
  providers: PIPELINE,
  exports: [WriteTransactions],
})
export class PipelineModule {}
