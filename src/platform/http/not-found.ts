import type { Request } from 'express';
import { ApiError } from './api-error.js';
import type { EndpointExplorer } from './endpoint-explorer.js';

/** Answers a request that no route takes: 405 with `Allow` for a path that exists, else 404. */
export function nothingHere(explorer: EndpointExplorer, req: Request): ApiError {
  const methods = explorer.methodsOf(req.path);
  if (methods.length === 0) return req.path === '/' ? noFrontPage() : noSuchPath();
  const allow = methods.join(', ');
  return new ApiError('method_not_allowed', `This path does not take ${req.method}; it takes ${allow}.`, {
    headers: { Allow: allow },
  });
}

function noFrontPage(): ApiError {
  return new ApiError('not_found', 'There is nothing at this path; /docs shows what there is.');
}

export function noSuchPath(): ApiError {
  return new ApiError('not_found', 'There is nothing at this path.');
}
