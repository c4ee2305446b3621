import { fileTypeFromBuffer } from 'file-type';

/** How many first bytes {@link sniff} wants. Office documents name their kind in the first entries of a zip. */
export const SNIFFED_BYTES = 64 * 1024;

/** No format with a signature is shorter. */
const MIN_SIGNED_BYTES = 8;

export const UNKNOWN_TYPE = 'application/octet-stream';

// Formats that are text and have a signature. Other signatures of two or three letters ("BM", "MZ", "ID3") also begin prose.
const WRITTEN_AS_TEXT = /^text\/|[/+](xml|pdf|rtf|postscript|eps|pgp-encrypted|x-ms-regedit)$|^application\/eps$/;
// RFC 6838 §4.2: the names of a registered type.
const DECLARED = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
const BINARY = /[^\P{Cc}\s]/u;

/** The media type that the first bytes give away, or null: plain text has no signature. */
export async function sniff(head: Buffer): Promise<string | null> {
  // A detector that stumbles over hostile bytes has detected nothing.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  // Its detectors read past the end of very short files, as if zeros stood there.
  if (found === undefined || head.length < MIN_SIGNED_BYTES) return null;
  return isText(head) && !WRITTEN_AS_TEXT.test(found.mime) ? null : found.mime;
}

/** A declared media type without its parameters, or null when it has not the form `type/subtype`. */
export function declared(type: string | null | undefined): string | null {
  const bare = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return DECLARED.test(bare) ? bare : null;
}

// Text has no signature, so of what the agent publishes only the name tells.
const BY_EXTENSION: Record<string, string> = {
  css: 'text/css',
  csv: 'text/csv',
  diff: 'text/x-diff',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  log: 'text/plain',
  md: 'text/markdown',
  patch: 'text/x-diff',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** What the extension of a name stands for, or null: for files that nobody declared a type for. */
export function typeByName(name: string | undefined): string | null {
  const extension = /\.([a-z]+)$/.exec(name?.toLowerCase() ?? '')?.[1] ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? null) : null;
}

/** Pictures, sound, moving pictures and letters are looked at and not run, but for SVG, whatever its spelling. */
const LOOKED_AT = /^(image|audio|video|font)\/(?!.*(svg|xml|html))/;
const WRITTEN =
  /^text\/(plain|csv|tab-separated-values|markdown|css|calendar|vcard|rtf|(x-)?(diff|patch|log|yaml|toml))$/;
const DATA = /^application\/(([\w.-]+\+)?json|json-seq|(x-)?(ndjson|jsonlines|yaml|toml|sql)|vnd\.apache\.parquet)$/;
const DOCUMENT =
  /^application\/(pdf|rtf|epub\+zip|msword|vnd\.ms-(excel|powerpoint)|vnd\.(openxmlformats-officedocument|oasis\.opendocument)\.[\w.-]+)$/;
const ARCHIVE = /^application\/(zip|zstd|(x-)?(gzip|tar|gtar|bzip2|xz|7z-compressed|zip-compressed)|vnd\.rar)$/;

/**
 * What a client is told about a stored file: its type when no browser and no system is known to run such a file, else
 * `application/octet-stream`. This is a list of what is served as such, because there is no end to the list of what is not: HTML has
 * `text/x-html` and `application/hta`, scripts have a dozen names.
 */
export function servedType(mediaType: string): string {
  const kinds = [LOOKED_AT, WRITTEN, DATA, DOCUMENT, ARCHIVE];
  return kinds.some((kind) => kind.test(mediaType)) ? mediaType : UNKNOWN_TYPE;
}

function isText(head: Buffer): boolean {
  try {
    // `stream`: a character cut off at the end of the sample is no error.
    return !BINARY.test(new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }));
  } catch {
    return false;
  }
}
