import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Egress } from '../../../platform/egress/egress.js';

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
/** As `fetch`, of one API. */
export type ApiFetch = (input: string | URL, init?: Init) => Promise<Response>;

const SECONDS = 30;
/** Far more than a pull request or a repository is described with. */
const MAX_BYTES = 2 * 1024 * 1024;
/** What the clients and this service read of an answer's headers. */
const KEPT = ['content-type', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** For a workspace. Requests go to addresses that were checked, follow no redirect, and take at most {@link SECONDS}. */
export function apiFetch(egress: Egress, workspace: string, caFile: string | null, signal: AbortSignal): ApiFetch {
  return (input, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const within = AbortSignal.any([signal, AbortSignal.timeout(SECONDS * 1000)]);
      const ca = caFile === null ? {} : { ca: readFileSync(caFile) };
      const request = egress.request(new URL(input), { method, headers, signal: within, ...ca }, workspace);
      request.once('error', reject);
      request.once('response', (message) => void answer(message).then(resolve, reject));
      request.end(body);
    });
}

async function answer(message: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('The answer of the API is too long.');
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = message;
  const kept = KEPT.map((name): [string, string] => [name, String(headers[name] ?? '')]).filter(
    ([, value]) => value !== '',
  );
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : Buffer.concat(chunks), { status, headers: kept });
}
