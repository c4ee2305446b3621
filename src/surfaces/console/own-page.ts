// What the console's own routes share.
import type { Request, Response } from 'express';
import { isOfOwnPage } from '../../access/auth/session-cookies.js';
import { ApiError } from '../../platform/http/api-error.js';
import { requireJson, welcome } from '../../platform/http/body.guard.js';
import { type JsonObject, parseJsonObject } from '../../platform/http/json-body.js';
import { readBody } from '../../platform/http/read-body.js';

const BODY = { most: 4096, inWords: '4 KiB' };

/** Throws 403 for what another page sends, on another port of this host too, and for what no browser has sent. */
export function requireOwnPage(req: Request): void {
  if (isOfOwnPage(req)) return;
  const message =
    'Only the console itself logs in and out here. If this is the console: open it over https, or at http://localhost on this machine, in a current browser; a proxy must pass the header Sec-Fetch-Site on. Programs send their key with each request.';
  throw new ApiError('cross_site', message);
}

/** Throws 400, 413, 415. */
export async function bodyOf(req: Request, res: Response): Promise<JsonObject> {
  requireJson(req.headers['content-type'], req.headers['content-encoding']);
  welcome(req, res);
  return parseJsonObject(await readBody(req, BODY));
}

/** 204. */
export function done(res: Response): void {
  res.setHeader('Cache-Control', 'no-store');
  res.status(204).end();
}
