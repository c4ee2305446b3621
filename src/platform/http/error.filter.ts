import { types } from 'node:util';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  NotFoundException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiError } from './api-error.js';
import { databaseError } from '../database/database-errors.js';
import { saysFull, storageFull } from '../disk/storage-full.js';
import { EndpointExplorer } from './endpoint-explorer.js';
import { noSuchPath, nothingHere } from './not-found.js';
import { drain } from './read-body.js';
import { announcesBody, isDecodable, requestIdOf } from './request.js';

/** Gives every error that is thrown the one shape (reference §10). The cause is logged, and nothing of it leaves the service. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  constructor(private readonly endpoints: EndpointExplorer) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const req = host.switchToHttp().getRequest<Request>();
    const res = host.switchToHttp().getResponse<Response>();
    const error = this.classify(exception, req);
    // What is refused below the reserve is no fault, and a line for each request would fill the disk.
    if (error.status >= 500 && (error !== exception || error.code !== 'storage_full')) this.log(exception, req, res);
    // The client has half an answer, and must see that it is broken, not take it for complete.
    if (res.headersSent) res.destroy();
    else void answer(error, req, res);
  }

  private classify(exception: unknown, req: Request): ApiError {
    if (exception instanceof ApiError) return exception;
    if (exception instanceof NotFoundException) return nothingHere(this.endpoints, req);
    if (exception instanceof HttpException) return fromFramework(exception, req);
    // The client left in the middle of its body. This comes before `databaseError`, because the code of the error (ECONNRESET) is
    // also that of a lost database connection.
    if (exception === req.errored) return new ApiError('invalid_body', 'The body ended early.');
    if (saysFull(exception)) return storageFull(exception);
    return databaseError(exception) ?? new ApiError('internal_error', 'Something went wrong on our side.');
  }

  private log(exception: unknown, req: Request, res: Response): void {
    const cause = exception instanceof ApiError ? (exception.cause ?? exception) : exception;
    const err = types.isNativeError(cause) ? cause : new Error(String(cause));
    this.logger.error({ requestId: requestIdOf(res), method: req.method, path: req.path, err });
  }
}

/** Translates what Nest throws by itself. Anything unexpected is the service's fault, not the client's. */
function fromFramework(exception: HttpException, req: Request): ApiError {
  if (exception.getStatus() === 400 && !isDecodable(req.path)) return noSuchPath();
  if (exception.getStatus() === 413) return new ApiError('too_large', 'The body is larger than what is accepted.');
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: exception });
}

async function answer(error: ApiError, req: Request, res: Response): Promise<void> {
  const rest = announcesBody(req) && !req.complete;
  if (rest && error.status === 429 && Number(req.headers['content-length'] ?? 0) > MOST_DRAINED) linger(res);
  else if (rest) await settleBody(req, res);
  // What waits for the end of the request hears of it, though nobody reads the answer.
  if (res.destroyed) return void res.end();
  if (res.headersSent) return;
  res.removeHeader('Location');
  // The route may have set its own type, and Express would keep it.
  res.removeHeader('Content-Type');
  if (error.status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
  res.status(error.status).json(error.body(requestIdOf(res)));
}

/** Bytes of a body that the service takes in although its request is over a limit. */
const MOST_DRAINED = 64 * 1024;
/** Milliseconds in which the client reads the answer before its connection ends in the middle of its body. */
const LINGER_MS = 1_000;

/** Leaves the rest of a body where it is: the answer goes out at once, and its end, which closes the connection, a second later. */
function linger(res: Response): void {
  res.setHeader('Connection', 'close');
  const end = res.end.bind(res) as (text: string) => Response;
  res.end = ((text: string) => {
    res.write(text);
    setTimeout(() => end(''), LINGER_MS).unref();
    return res;
  }) as Response['end'];
}

/** Takes care of the rest of a body that nothing will read: see {@link drain}. */
async function settleBody(req: Request, res: Response): Promise<void> {
  // This client waits for a word before it sends its body, and will not get it, so there is nothing to take in.
  if (req.headers.expect !== undefined) res.setHeader('Connection', 'close');
  else if (res.shouldKeepAlive) req.resume();
  else await drain(req);
}
