// What kinds of answers are text, and their characters.
import { TextDecoder } from 'node:util';
import { readableType } from '../models/request-files.js';

const TEXT = /^(text\/|application\/(.+\+)?(json|xml|yaml|toml|x-yaml|javascript|x-javascript|ecmascript|sql|x-sh|x-ndjson|jsonl|rtf|graphql|typescript|x-httpd-php)$|image\/svg\+xml$|message\/)/; // prettier-ignore
const READ = /^(application\/pdf|image\/(png|jpeg|gif|webp))$/;
/** What hosts say of anything. */
const ANYTHING = ['', 'application/octet-stream', 'binary/octet-stream', 'application/x-download'];
/** Where a page says itself in which characters it is written. */
const HEAD_BYTES = 2_048;
/** What windows-1252 has from 0x80 on, where ISO 8859-1 has controls. */
const WINDOWS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Whether an answer of this type can be read at all. */
export function isRead(mediaType: string): boolean {
  return TEXT.test(mediaType) || READ.test(mediaType) || ANYTHING.includes(mediaType);
}

/** As what an answer is read: a file for the model, a page, text; null: not at all. */
export function kindOf(mediaType: string, body: Buffer): { file: string } | 'html' | 'text' | null {
  const file = readableType(body.subarray(0, 16));
  if (file !== null && !TEXT.test(mediaType)) return { file };
  if (READ.test(mediaType)) return null;
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return 'html';
  if (TEXT.test(mediaType)) return 'text';
  if (body.subarray(0, 8_192).includes(0)) return null;
  return /^\s*<(!doctype html|html)\b/i.test(body.toString('latin1', 0, 512)) ? 'html' : 'text';
}

/** The characters of an answer. What it says of them wrongly becomes replacement characters. */
export function decoded(body: Buffer, charset: string | null, kind: 'html' | 'text'): string {
  const decoder = decoderFor(markOf(body) ?? charset ?? saidIn(body, kind));
  const text = decoder.decode(body);
  // Node 20 takes it for ISO 8859-1, which has controls in the place of these.
  return decoder.encoding === 'windows-1252'
    ? text.replace(/[\x80-\x9f]/g, (sign) => WINDOWS[sign.charCodeAt(0) - 0x80] ?? sign)
    : text;
}

/** A mark at the beginning counts more than what the host says (Encoding Standard, section 4.2). */
function markOf(body: Buffer): string | null {
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 'utf-8' : null;
}

function saidIn(body: Buffer, kind: 'html' | 'text'): string | null {
  const head = body.toString('latin1', 0, HEAD_BYTES);
  const [, xml] = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)/.exec(head) ?? [];
  if (xml !== undefined || kind === 'text') return xml ?? null;
  return /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1] ?? null;
}

function decoderFor(charset: string | null): TextDecoder {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}
