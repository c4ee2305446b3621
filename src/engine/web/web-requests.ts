// How a page is asked for (reference §27, docs/decisions/0105): each hop by the address rule of §18, without cookies and credentials.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { findAuthorities } from '../../platform/config/authorities.js';
import { Env } from '../../platform/config/env.js';
import { VERSION } from '../../platform/config/version.js';
import { Egress, EgressError } from '../../platform/egress/egress.js';
import { pageUrl, WebError } from './page-url.js';

/** Redirects that are followed, all of them to the same host. */
const REDIRECTS = 5;
const MOVED = [301, 302, 303, 307, 308];
/** Bytes that are read of what is no page, such as one that is not there. */
const REFUSAL_BYTES = 256 * 1024;
const HEADERS = {
  'user-agent': `Millwright/${VERSION}`,
  accept: 'text/markdown, text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.8',
  'accept-encoding': 'gzip, br, deflate',
};

/** What a host has answered. */
export interface WebAnswer {
  /** Where it stands: behind the redirects. */
  url: URL;
  status: number;
  /** In small letters, without parameters; empty: the host does not say. */
  mediaType: string;
  charset: string | null;
  /** What the host says of its length, packed or not; null: nothing. */
  length: number | null;
  body: Buffer;
  /** There is more than was read. */
  cut: boolean;
}

/** Another host has it, which is not asked. */
export interface Elsewhere {
  url: URL;
  status: number;
  elsewhere: URL;
}

export interface WebAsk {
  /** The workspace, for the look-up of names. */
  owner: string;
  maxBytes: number;
  seconds: number;
  signal: AbortSignal;
  /** Whether the body of such an answer is read at all. */
  wants: (mediaType: string) => boolean;
}

@Injectable()
export class WebRequests {
  /** A test has one that leads to its own hosts. */
  egress = new Egress([]);
  private authorities: string[] | undefined;

  constructor(private readonly env: Env) {}

  /** Throws {@link WebError}, and the reason of the signal. */
  async get(first: URL, { seconds, signal, ...ask }: WebAsk): Promise<WebAnswer | Elsewhere> {
    const late = AbortSignal.timeout(seconds * 1000);
    const both = AbortSignal.any([signal, late]);
    let url = first;
    try {
      for (let hops = 0; ; hops++) {
        const message = await this.respond(url, ask.owner, both);
        try {
          const next = redirectOf(message, url);
          const status = message.statusCode ?? 0;
          if (next === null) return await answerOf(message, url, ask);
          if (next.host !== url.host) return { url, status, elsewhere: next };
          if (hops === REDIRECTS) throw new WebError(`${first.href} is redirected more than ${REDIRECTS} times.`);
          url = next;
        } finally {
          message.destroy();
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted) throw new WebError(`${url.host} has not answered in full within ${seconds} s.`);
      throw error instanceof WebError ? error : new WebError(wordsOf(error, url), { cause: error });
    }
  }

  private async respond(url: URL, owner: string, signal: AbortSignal): Promise<IncomingMessage> {
    this.authorities ??= findAuthorities(this.env.file.sandbox?.caFile).certificates.map(String);
    const request = this.egress.request(url, { headers: HEADERS, signal, ca: this.authorities }, owner);
    const answer = once(request, 'response') as Promise<[IncomingMessage]>;
    // One that breaks when it is answered is an error of the answer too.
    request.on('error', () => undefined);
    request.end();
    return (await answer)[0];
  }
}

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, url: URL): URL | null {
  return MOVED.includes(statusCode) && location !== undefined ? pageUrl(location, url) : null;
}

async function answerOf(
  message: IncomingMessage,
  url: URL,
  { maxBytes, wants }: Pick<WebAsk, 'maxBytes' | 'wants'>,
): Promise<WebAnswer> {
  const { statusCode: status = 0, headers } = message;
  const [mediaType = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = /^\s*charset\s*=\s*"?([\w.:-]+)"?\s*$/;
  const length = /^\d{1,15}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : null;
  const about = {
    ...{ url, status, length, mediaType: mediaType.trim() },
    charset: parameters.map((one) => charset.exec(one)?.[1]).find((one) => one !== undefined) ?? null,
  };
  if (!wants(about.mediaType)) return { ...about, body: Buffer.alloc(0), cut: true };
  const most = status >= 400 ? Math.min(maxBytes, REFUSAL_BYTES) : maxBytes;
  return { ...about, ...(await bodyOf(await unpacked(message), most)) };
}

/** Stops reading at the limit, which counts what is unpacked. */
async function bodyOf(content: Readable, most: number): Promise<{ body: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, most), cut: size > most };
}

async function unpacked(message: IncomingMessage): Promise<Readable> {
  const packing = (message.headers['content-encoding'] ?? '').trim().toLowerCase();
  switch (packing) {
    case '':
    case 'identity':
      return message;
    case 'gzip':
    case 'x-gzip':
      return through(message, createGunzip());
    case 'br':
      return through(message, createBrotliDecompress());
    case 'deflate':
      // Some hosts leave out the head that tells what it is (RFC 9110, section 8.4.1.2).
      return through(message, ((await firstByte(message)) & 0x0f) === 8 ? createInflate() : createInflateRaw());
    default:
      throw new WebError(`The answer is packed as ${JSON.stringify(packing.slice(0, 40))}, which was not asked for.`);
  }
}

function through(message: IncomingMessage, unpack: NodeJS.ReadWriteStream & Readable): Readable {
  // An error of the one becomes one of the other, which is read.
  pipeline(message, unpack, () => undefined);
  return unpack;
}

async function firstByte(message: IncomingMessage): Promise<number> {
  if (!message.readableEnded && message.readableLength === 0)
    await Promise.race([once(message, 'readable'), once(message, 'end')]);
  const head = message.read() as Buffer | null;
  if (head === null) return 8;
  message.unshift(head);
  return head[0] ?? 8;
}

/** Codes say enough, and hold no address that a name resolved to. */
function wordsOf(error: unknown, { host, hostname }: URL): string {
  if (error instanceof EgressError) return `${error.message} Pages are read of public hosts alone.`;
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const { code = 'no answer' } = (first ?? {}) as { code?: string };
  if (/^E(NOTFOUND|NODATA|AI_AGAIN|SERVFAIL|AI_.*)$/.test(code)) return `There is no host ${hostname} (${code}).`;
  if (/CERT|TLS|SSL|SIGNED|VERIFY|ISSUER/.test(code)) {
    return `${host} cannot be asked by https: it does not prove that it is that host (${code}).`;
  }
  if (/^(Z_|ERR_.*BROTLI|ERR__|ERR_BROTLI)/.test(code)) return `The answer of ${host} cannot be unpacked (${code}).`;
  if (code.startsWith('HPE_')) return `${host} does not answer as HTTP wants it (${code}).`;
  return `${host} could not be asked by https (${code}).`;
}
