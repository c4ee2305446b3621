// The answer with a file's bytes: whole, a part, or nothing when the client has them (reference §7, RFC 9110).
import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import type { DocumentedAnswer } from '../../platform/http/endpoint.js';
import { has } from '../../platform/http/etag.js';
import { attachment } from './file-name.js';
import type { FileRow } from './files.sql.js';
import type { FileStorage } from './storage/file-storage.js';
import type { ByteRange } from './storage/storage-driver.js';
import { servedType } from './storage/media-type.js';

/** Answers a GET or HEAD. Throws `range_not_satisfiable`, or the storage's error, before anything is sent. */
export async function sendContent(req: Request, res: Response, file: FileRow, storage: FileStorage): Promise<void> {
  const etag = `"${file.sha256}"`;
  if (has(req.headers['if-none-match'], etag)) {
    res.writeHead(304, validators(etag)).end();
    return;
  }
  const range = wantedRange(req, etag, file.size);
  const head = [range === null ? 200 : 206, { ...validators(etag), ...describe(file, range) }] as const;
  if (req.method === 'HEAD') {
    res.writeHead(...head).end();
    return;
  }
  const { stream } = await storage.open(file.workspaceId, file.sha256, range ?? undefined);
  res.writeHead(...head);
  // Closes the file whatever happens, and the connection when reading fails: half a file must not look whole.
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') new Logger('files').error(`${file.id}: ${error.message}`);
  });
}

const VALIDATORS = { ETag: 'The SHA-256 of the content.', 'Cache-Control': 'Always `private, no-cache`.' };
const DESCRIBED = {
  ...VALIDATORS,
  'Accept-Ranges': 'Always `bytes`.',
  'Content-Disposition': '`attachment`, with the name of the file.',
  'Content-Security-Policy': 'Always `sandbox`.',
};

export const CONTENT_ANSWERS: Record<number, DocumentedAnswer> = {
  200: { description: 'The bytes.', content: { '*/*': null }, headers: DESCRIBED },
  206: {
    description: 'The part that was asked for.',
    content: { '*/*': null },
    headers: { ...DESCRIBED, 'Content-Range': 'Which bytes these are, of how many.' },
  },
  304: { description: 'The client has them.', headers: VALIDATORS },
};

function validators(etag: string): OutgoingHttpHeaders {
  return { ETag: etag, 'Cache-Control': 'private, no-cache' };
}

function describe(file: FileRow, range: ByteRange | null): OutgoingHttpHeaders {
  return {
    'Content-Type': servedType(file.mediaType),
    'Content-Length': range === null ? file.size : range.end - range.start + 1,
    'Accept-Ranges': 'bytes',
    'Content-Disposition': attachment(file.name),
    'Content-Security-Policy': 'sandbox',
    'X-Content-Type-Options': 'nosniff',
    ...(range === null ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${file.size}` }),
  };
}

/** The range of a `Range` header, null for the whole. More than one range, or none that can be read: the whole. */
export function parseRange(header: string | undefined, size: number): ByteRange | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return null;
  if (first === '') {
    if (Number(last) === 0) throw unsatisfiable(size);
    return size === 0 ? null : { start: Math.max(0, size - Number(last)), end: size - 1 };
  }
  const [start, end] = [Number(first), last === '' ? Infinity : Number(last)];
  if (end < start) return null;
  if (start >= size) throw unsatisfiable(size);
  return { start, end: Math.min(end, size - 1) };
}

// Ranges are for GET alone, and, with If-Range, for the very bytes that the client has a part of.
function wantedRange(req: Request, etag: string, size: number): ByteRange | null {
  const ifRange = req.headers['if-range'];
  if (req.method !== 'GET' || (ifRange !== undefined && ifRange !== etag)) return null;
  return parseRange(req.headers.range, size);
}

function unsatisfiable(size: number): ApiError {
  return new ApiError('range_not_satisfiable', `The file has ${size} bytes: ask for a range that begins within them.`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}
