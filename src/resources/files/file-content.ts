// The answer with a file's bytes: whole, a part, or nothing when the client has them (reference §7, RFC 9110).
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import type { DocumentedAnswer } from '../../platform/http/endpoint.js';
import { has, matches } from '../../platform/http/etag.js';
import { attachment } from './file-name.js';
import type { FileRow } from './files.sql.js';
import type { ByteRange } from './storage/storage-driver.js';
import { servedType } from './storage/media-type.js';

/** What is told of bytes that never change. */
export type ServedContent = Pick<FileRow, 'id' | 'name' | 'mediaType' | 'size' | 'sha256' | 'createdAt'>;

/** Answers a GET or HEAD. Throws `range_not_satisfiable`, or the storage's error, before anything is sent. */
export async function sendContent(
  req: Request,
  res: Response,
  file: ServedContent,
  open: (range?: ByteRange) => Promise<{ stream: Readable }>,
): Promise<void> {
  const version = versionOf(file);
  checkPreconditions(req.headers, version);
  if (isKnown(req.headers, version)) {
    res.writeHead(304, validators(version)).end();
    return;
  }
  const range = wantedRange(req, version, file.size);
  const head = [range === null ? 200 : 206, { ...validators(version), ...describe(file, range) }] as const;
  if (req.method === 'HEAD') {
    res.writeHead(...head).end();
    return;
  }
  const { stream } = await open(range ?? undefined);
  res.writeHead(...head);
  // Closes the file whatever happens, and the connection when reading fails: half a file must not look whole.
  await pipeline(stream, res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') new Logger('files').error(`${file.id}: ${error.message}`);
  });
}

/** How the answers are documented, by what their validators say. */
export function contentAnswers(tags: Record<'ETag' | 'Last-Modified', string>): Record<number, DocumentedAnswer> {
  const known = { ...tags, 'Cache-Control': 'Always `private, no-cache`.' };
  const described = {
    ...known,
    'Accept-Ranges': 'Always `bytes`.',
    'Content-Disposition': '`attachment`, with the name of the file.',
    'Content-Security-Policy': 'Always `sandbox`.',
  };
  const content = { '*/*': null };
  return {
    200: { description: 'The bytes.', content, headers: described },
    206: {
      description: 'The part that was asked for.',
      content,
      headers: { ...described, 'Content-Range': 'Which bytes these are, of how many.' },
    },
    304: { description: 'The client has them.', headers: known },
  };
}

/** The tag of a file's bytes, and the second in which it was made, in milliseconds. */
interface Version {
  etag: string;
  modified: number;
}

function versionOf({ sha256, createdAt }: ServedContent): Version {
  return { etag: `"${sha256}"`, modified: Math.floor(createdAt.getTime() / 1000) * 1000 };
}

function validators({ etag, modified }: Version): OutgoingHttpHeaders {
  return { ETag: etag, 'Last-Modified': new Date(modified).toUTCString(), 'Cache-Control': 'private, no-cache' };
}

/** A date of HTTP (RFC 9110 §5.6.7) in milliseconds; NaN, which every comparison denies, for what is none. */
function dateOf(text: string | undefined): number {
  return text?.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
}

/** Throws 412 where the client wants other bytes than these. `If-Match` stands above the date (RFC 9110 §13.2.2). */
function checkPreconditions(headers: IncomingHttpHeaders, { etag, modified }: Version): void {
  const { 'if-match': tags, 'if-unmodified-since': since } = headers;
  // A date that cannot be read is none (§13.1.4).
  const wanted = tags !== undefined ? matches(tags, etag) : !(modified > dateOf(String(since)));
  if (!wanted) throw new ApiError('precondition_failed', `The file is another one: its ETag is ${etag}.`);
}

/** Whether the client has these bytes. `If-None-Match` stands above the date. */
function isKnown(headers: IncomingHttpHeaders, { etag, modified }: Version): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  return tags !== undefined ? has(tags, etag) : modified <= dateOf(since);
}

function describe(file: ServedContent, range: ByteRange | null): OutgoingHttpHeaders {
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
function wantedRange(req: Request, { etag, modified }: Version, size: number): ByteRange | null {
  const ifRange = req.headers['if-range'];
  const same = ifRange === undefined || ifRange === etag || dateOf(String(ifRange)) === modified;
  if (req.method !== 'GET' || !same) return null;
  return parseRange(req.headers.range, size);
}

function unsatisfiable(size: number): ApiError {
  return new ApiError('range_not_satisfiable', `The file has ${size} bytes: ask for a range that begins within them.`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}
