import type { Request, Response } from 'express';

/** All values of a header as the client sent them, one for each line. Node joins or drops repeated ones in `headers`. */
export function headerValues(req: Request, name: string): string[] {
  const found: string[] = [];
  const raw = req.rawHeaders;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const given = raw[i];
    if (given?.length === name.length && given.toLowerCase() === name) found.push(raw[i + 1] ?? '');
  }
  return found;
}

/** The id that {@link stampResponse} gave to the request of this response. */
export function requestIdOf(res: Response): string {
  return String(res.getHeader('X-Request-Id'));
}

/** Whether the client announced a body. */
export function announcesBody(req: Request): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
