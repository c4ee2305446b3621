import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { UnitOfWorkInterceptor } from '../idempotency/unit-of-work.interceptor.js';
import { ENDPOINT, type EndpointContract, writes } from './endpoint.js';

/**
 * States the contract of a route. A writing one gets its transaction with it: an interceptor for all routes would wrap each
 * read in observables that do nothing for it (docs/decisions/0017).
 */
export function Endpoint(contract: EndpointContract): MethodDecorator {
  const stated = SetMetadata(ENDPOINT, contract);
  return writes(contract) ? applyDecorators(stated, UseInterceptors(UnitOfWorkInterceptor)) : stated;
}
