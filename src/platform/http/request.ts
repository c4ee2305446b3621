import { createHash } from 'node:crypto';
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

/** Whether `Accept` names the media type; a weight of 0 refuses it (RFC 9110 §12.4.2). */
export function accepts(req: Request, type: 'text/html' | 'text/event-stream'): boolean {
  const ranges = (req.headers.accept ?? '').toLowerCase().split(',');
  const named = ranges.find((range) => range.split(';', 1)[0]?.trim() === type);
  return named !== undefined && !/;\s*q\s*=\s*0(\.0*)?\s*(;|$)/.test(named);
}

/** Whether the percent signs of a path are followed by what UTF-8 allows. */
export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Percent-encoded letters, digits, `-`, `_` and `~`: they mean what they stand for (RFC 3986 §6.2.2.2). A dot stays: `..` means another thing. */
const UNRESERVED = /%(?:2D|3\d|4[1-9A-F]|5[\dAF]|6[1-9A-F]|7[\dAE])/gi;

/** A request target whose path is spelled as routes are. */
export function plainTarget(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  const plain = path.replace(UNRESERVED, (one) => String.fromCharCode(Number.parseInt(one.slice(1), 16)));
  return query === -1 ? plain : plain + target.slice(query);
}

/** No path of ours is half as long; an index row of PostgreSQL takes 2,704 bytes, with the other parts of the key. */
const LONGEST_PATH = 1000;

/** One spelling per path: ids may come in capitals or percent-encoded. What PostgreSQL cannot index is told by its digest. */
export function canonicalPath(path: string): string {
  const one = decodeURIComponent(path).toLowerCase();
  const indexable = Buffer.byteLength(one) <= LONGEST_PATH && !one.includes('\0');
  return indexable ? one : createHash('sha256').update(one).digest('hex');
}
