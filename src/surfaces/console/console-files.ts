import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SignInProvider } from '../../access/sign-in/sign-in-provider.js';
import type { SignInConfig } from '../../platform/config/sign-in.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { has } from '../../platform/http/etag.js';

/** Nothing but the service itself, no script or style in the page, no markup out of strings (reference §20). */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types worker',
].join('; ');

const HEADERS = {
  'Content-Security-Policy': CONSOLE_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

const TEXT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};
const OTHER_TYPES: Record<string, string> = { '.woff2': 'font/woff2', '.png': 'image/png', '.ico': 'image/x-icon' };

const NOT_BUILT = "The console is not built: run 'npm run build' in the folder of the service, and start it again.";

/** Bytes below which compressing gains nothing. */
const SMALL = 512;
const PAGE = 'index.html';
/** Below it each name has the hash of its content. */
const FOR_EVER = 'assets/';

const ENCODERS = {
  // 11 takes 1.1 s for all files, each when it is first asked for; 10 takes half of it, and is 2 % larger: 4 KiB of a first load, which may have 280.
  br: (plain: Buffer) => promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  gzip: (plain: Buffer) => promisify(gzip)(plain, { level: 9 }),
};
type Encoding = keyof typeof ENCODERS;

interface Kept {
  type: string;
  cache: string;
  /** Without quotation marks. */
  tag: string;
  plain: Buffer;
  compresses: boolean;
  /** Made when first asked for. */
  encoded: Map<Encoding, Promise<Buffer>>;
}

/** Where the built console lies: beside `dist`, which each build of the service empties. */
@Injectable()
export class ConsoleFolder {
  readonly path: string = fileURLToPath(new URL('../../../dist-console', import.meta.url));
}

/** The files of the console: a few dozen, read once at boot, so that no path of a request ever becomes one of the disk. */
@Injectable()
export class ConsoleFiles {
  private readonly kept: ReadonlyMap<string, Kept>;

  constructor(folder: ConsoleFolder, provider: SignInProvider) {
    this.kept = read(folder.path, provider.config);
    if (this.kept.has(PAGE)) return;
    new Logger('Console').warn(
      `${NOT_BUILT} Everything else works without it; CONSOLE=off says that it is not wanted.`,
    );
  }

  /** Answers GET and HEAD of a path that is `/console` or below it. Throws 404. */
  async answer(req: Request, res: Response): Promise<void> {
    // A 404 too: kept by a cache, it would outlast the start of the version that has the file.
    res.setHeader('Cache-Control', 'no-cache');
    if (req.path === '/console') {
      const query = req.url.indexOf('?');
      res.writeHead(308, { Location: `/console/${query < 0 ? '' : req.url.slice(query)}` }).end();
      return;
    }
    if (!this.kept.has(PAGE)) throw new ApiError('not_found', NOT_BUILT);
    const name = req.path.slice('/console/'.length);
    // A path of the page's own, which finds its way by itself; but a file that is not there is not there.
    const file = this.kept.get(name) ?? (basename(name).includes('.') ? undefined : this.kept.get(PAGE));
    if (file === undefined) throw notFound('file');
    await send(file, req, res);
  }
}

function read(folder: string, signIn: SignInConfig | null): Map<string, Kept> {
  const kept = new Map<string, Kept>();
  if (!existsSync(folder)) return kept;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).split(sep).join(posix.sep);
    const plain = readFileSync(path);
    kept.set(name, keep(name === PAGE ? offering(plain, signIn) : plain, name));
  }
  return kept;
}

/** The page says by whom people sign in, so that it need not ask. Without a provider it is as it was built. */
function offering(page: Buffer, signIn: SignInConfig | null): Buffer {
  if (signIn === null) return page;
  const { host } = new URL(signIn.issuer);
  return Buffer.from(
    page.toString().replace('</head>', `<meta name="millwright-sign-in" content="${host}" />\n</head>`),
  );
}

function keep(plain: Buffer, name: string): Kept {
  const extension = extname(name);
  const text = TEXT_TYPES[extension];
  return {
    type: text ?? OTHER_TYPES[extension] ?? 'application/octet-stream',
    cache: name.startsWith(FOR_EVER) ? 'public, max-age=31536000, immutable' : 'no-cache',
    tag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    plain,
    compresses: text !== undefined && plain.length >= SMALL,
    encoded: new Map(),
  };
}

async function send(file: Kept, req: Request, res: Response): Promise<void> {
  const encoding = file.compresses ? encodingOf(req.headers['accept-encoding'] ?? '') : null;
  // Each encoding is a representation of its own (RFC 9110 §8.8.3.3).
  const tag = encoding === null ? `"${file.tag}"` : `"${file.tag}-${encoding}"`;
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
  res.setHeader('Cache-Control', file.cache);
  res.setHeader('ETag', tag);
  if (file.compresses) res.setHeader('Vary', 'Accept-Encoding');
  if (has(req.headers['if-none-match'], tag)) {
    res.writeHead(304).end();
    return;
  }
  const body = encoding === null ? file.plain : await encoded(file, encoding);
  res.setHeader('Content-Type', file.type);
  if (encoding !== null) res.setHeader('Content-Encoding', encoding);
  res.setHeader('Content-Length', body.length);
  res.end(req.method === 'HEAD' ? undefined : body);
}

/** The best of what a client takes; a weight of 0 refuses one (RFC 9110 §12.5.3). Null: as it is. */
function encodingOf(header: string): Encoding | null {
  const refused = /;\s*q\s*=\s*0(\.0*)?\s*$/;
  const taken = header
    .toLowerCase()
    .split(',')
    .filter((one) => !refused.test(one))
    .map((one) => one.split(';', 1)[0]?.trim());
  return (['br', 'gzip'] as const).find((one) => taken.includes(one)) ?? null;
}

function encoded(file: Kept, encoding: Encoding): Promise<Buffer> {
  const made = file.encoded.get(encoding) ?? ENCODERS[encoding](file.plain);
  file.encoded.set(encoding, made);
  return made;
}
