// Files through MCP: the route's bytes as text, as an image or in base64.
import { randomUUID } from 'node:crypto';
import { type Call, jsonOf } from './call.js';
import type { InnerAnswer } from './inner-request.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { extendedName } from '../../resources/files/file-name.js';
import { bytesOf, failed, MOST, succeeded, type ToolResult } from './results.js';
import { invalidField, numberOf, textOf } from './tool-request.js';
import { MOST_READ, MOST_UPLOAD } from './tools.js';

/** Bytes of a file that is given as a whole: an image, or a resource. */
export const MOST_WHOLE = 1024 * 1024;
/** Those that models look at. */
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;
/** Bytes that fit in base64, with what stands beside them. */
const MOST_BINARY = 36_000;

/** A part of a file, or all of it. */
export interface Piece {
  bytes: Buffer;
  type: string;
  /** Of the file. */
  size: number;
}

/** Reads bytes of a file, as many as there are; or the error of the route. */
export async function readBytes(call: Call, path: string, from: number, most: number): Promise<Piece | InnerAnswer> {
  const answer = await call.send({ method: 'GET', path, headers: { range: `bytes=${from}-${from + most - 1}` } });
  const [, total] = /\/(\d+)$/.exec(String(answer.headers['content-range'] ?? '')) ?? [];
  // There is no first byte of an empty file, and nothing to ask it by a range.
  if (answer.status === 416 && total === '0' && from === 0) return readWhole(call, path);
  if (answer.status >= 400) return answer;
  const type = String(answer.headers['content-type'] ?? '');
  return { bytes: answer.body, type, size: Number(total ?? answer.body.length) };
}

async function readWhole(call: Call, path: string): Promise<Piece | InnerAnswer> {
  const answer = await call.send({ method: 'GET', path });
  if (answer.status >= 400) return answer;
  return { bytes: answer.body, type: String(answer.headers['content-type'] ?? ''), size: answer.body.length };
}

/** `read_file`. Throws 400. */
export async function readFile(call: Call, path: string, args: JsonObject): Promise<ToolResult> {
  const offset = numberOf(args, 'offset', 0, Number.MAX_SAFE_INTEGER - MOST_READ) ?? 0;
  const length = numberOf(args, 'length', 1, MOST_READ);
  const read = await readBytes(call, path, offset, length ?? MOST_READ);
  if ('status' in read) return failed(jsonOf(read));
  const { bytes, type, size } = read;
  if (IMAGE.test(type) && offset === 0 && length === undefined && size <= MOST_WHOLE) {
    const whole = bytes.length === size ? read : await readBytes(call, path, 0, MOST_WHOLE);
    if ('status' in whole) return failed(jsonOf(whole));
    return { content: [{ type: 'image', data: whole.bytes.toString('base64'), mimeType: type }] };
  }
  return textPiece(read, offset) ?? binaryPiece(read, offset);
}

/** `upload_file`: the form that the route takes. Throws 400. */
export async function uploadFile(call: Call, path: string, args: JsonObject): Promise<ToolResult> {
  const name = textOf(args, 'name');
  // A form says of a part without a name that it is no file.
  if (!name) throw invalidField('name', 'must be a string that is not empty');
  const [text, base64] = [textOf(args, 'text'), textOf(args, 'base64')];
  if ((text === undefined) === (base64 === undefined))
    throw invalidField('text', 'or base64 is expected, one of the two');
  const wrong =
    base64 !== undefined && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64);
  if (wrong) throw invalidField('base64', 'must be base64');
  const boundary = `millwright-${randomUUID()}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; ${extendedName(name)}\r\n\r\n`;
  const content = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text);
  if (content.length > MOST_UPLOAD) {
    throw invalidField(text === undefined ? 'base64' : 'text', 'must be of a file of at most 700 KiB');
  }
  const bytes = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const answer = await call.send({
    method: 'POST',
    path,
    body: { type: `multipart/form-data; boundary=${boundary}`, bytes },
  });
  return answer.status >= 400 ? failed(jsonOf(answer)) : succeeded(jsonOf(answer));
}

/** The bytes as text, with what is whole of their last character; null when they are none. `rest`: more of the file follows. */
export function decoded(bytes: Buffer, rest: boolean): { text: string; length: number } | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: rest });
    const length = Buffer.byteLength(text);
    // The beginning of one character alone is no text that somebody could read on behind.
    return text.includes('\0') || (length === 0 && bytes.length > 0) ? null : { text, length };
  } catch {
    return null;
  }
}

function textPiece({ bytes, type, size }: Piece, offset: number): ToolResult | null {
  for (let most = bytes.length; ; most = Math.floor(most * 0.8)) {
    const piece = decoded(bytes.subarray(0, most), offset + most < size);
    if (piece === null) return null;
    const place = placeOf(type, size, offset + piece.length);
    const structuredContent = { text: piece.text, ...place };
    if (bytesOf(structuredContent) > MOST) continue;
    return { content: [{ type: 'text', text: piece.text }, ...nextOf(place)], structuredContent };
  }
}

function binaryPiece({ bytes, type, size }: Piece, offset: number): ToolResult {
  const some = bytes.subarray(0, MOST_BINARY);
  const place = placeOf(type, size, offset + some.length);
  const base64 = some.toString('base64');
  return { content: [{ type: 'text', text: base64 }, ...nextOf(place)], structuredContent: { base64, ...place } };
}

/** `nextOffset` only where there is more. */
const placeOf = (mediaType: string, size: number, end: number) => ({
  mediaType,
  size,
  ...(end < size && { nextOffset: end }),
});

const nextOf = ({ nextOffset }: { nextOffset?: number }) =>
  nextOffset === undefined ? [] : [{ type: 'text', text: `nextOffset: ${nextOffset}` }];
