import { ApiError } from '../../platform/http/api-error.js';
import { isShown, shown } from '../../platform/text/names.js';

/** The longest name that the usual file systems take, in bytes of UTF-8. */
const MAX_BYTES = 255;
// A longer "extension" is not one, and is cut like the rest.
const MAX_EXTENSION_BYTES = 32;

/** {@link cleanName} of an upload. Throws 400 where hidden characters would make a name look like another. */
export function uploadName(given: string | null | undefined): string {
  if (isShown(lastSegment(given).replace(/\p{Cc}/gu, ''))) return cleanName(given);
  const message =
    'The name of the file must be without hidden characters, such as those that turn the direction of text.';
  throw new ApiError('invalid_field', message, { param: 'file' });
}

/**
 * A name to store: the last path segment without control characters and hidden ones, at most 255 bytes, never empty (reference §7).
 */
export function cleanName(given: string | null | undefined): string {
  const name = shown(lastSegment(given)).replace(/\p{Surrogate}/gu, '\u{fffd}');
  if (name.trim() === '' || name === '.' || name === '..') return 'file';
  const { stem, extension } = parts(name);
  return fit(stem, extension);
}

/**
 * `name` while it is not in `taken`, else the first free one of `name (2)`, `name (3)`, …; the number stands before the extension.
 * @param from the first number that is tried.
 */
export function freeName(name: string, taken: Pick<ReadonlySet<string>, 'has'>, from = 2): string {
  if (!taken.has(name)) return name;
  const { stem, extension } = parts(name);
  for (let number = from; ; number += 1) {
    const candidate = fit(stem, ` (${number})${extension}`);
    if (!taken.has(candidate)) return candidate;
  }
}

/**
 * `Content-Disposition` for a download. `filename` is for old clients; `filename*` (RFC 8187) is the name.
 * Nothing of the name can end the header or its quotes.
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  return `attachment; filename="${plain}"; ${extendedName(name)}`;
}

/** The parameter `filename*` (RFC 8187). */
export function extendedName(name: string): string {
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `filename*=UTF-8''${encoded}`;
}

function lastSegment(path: string | null | undefined): string {
  return (path ?? '').split(/[/\\]/).at(-1) ?? '';
}

function parts(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot) : '';
  if (extension.length < 2 || Buffer.byteLength(extension) > MAX_EXTENSION_BYTES) return { stem: name, extension: '' };
  return { stem: name.slice(0, dot), extension };
}

function fit(stem: string, suffix: string): string {
  const room = MAX_BYTES - Buffer.byteLength(suffix);
  if (Buffer.byteLength(stem) <= room) return stem + suffix;
  let kept = '';
  let bytes = 0;
  for (const character of stem) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    kept += character;
  }
  return kept + suffix;
}
