// One request to a webhook, and what is kept of it.
import type { IncomingMessage } from 'node:http';
import { type Egress, EgressError } from '../../platform/egress/egress.js';
import { AllowedNetworks } from '../../platform/egress/networks.js';
import type { Attempt } from '../../resources/webhooks/webhook-delivery.entity.js';
import { secondsOf } from './waits.js';

/** Until the head of the answer is there. Milliseconds. */
const ANSWER_MS = 15_000;
/** Of an answer so many bytes are read, for so many milliseconds after its head, and so many bytes are kept. */
const READ_BYTES = 65_536;
const READ_MS = 1_000;
const KEPT_BYTES = 1_024;

const PUBLIC = new AllowedNetworks([]);

export interface Post {
  url: URL;
  headers: Record<string, string>;
  body: string;
}

export interface Outcome {
  attempt: Attempt;
  /** Seconds that the endpoint has asked for. */
  retryAfter: number | null;
}

/**
 * Sends a POST. Never rejects, but with the reason of `signal`: then nothing is known of it.
 * @param answerMs for tests.
 */
export async function attempt(egress: Egress, post: Post, signal: AbortSignal, answerMs = ANSWER_MS): Promise<Outcome> {
  const [at, began] = [new Date().toISOString(), performance.now()];
  const durationMs = () => Math.round(performance.now() - began);
  const ending = new AbortController();
  const stop = () => ending.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const limit = setTimeout(() => ending.abort(new TimeoutError()), answerMs);
  try {
    signal.throwIfAborted();
    const answer = await headOf(egress, post, ending.signal);
    clearTimeout(limit);
    const [status, retryAfter] = [answer.statusCode ?? 0, secondsOf(answer.headers['retry-after'])];
    const took = durationMs();
    const response = await kept(answer);
    return { attempt: { at, durationMs: took, status, error: null, response }, retryAfter };
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = ending.signal.aborted ? ending.signal.reason : error;
    return {
      attempt: { at, durationMs: durationMs(), status: null, error: words(reason, answerMs), response: null },
      retryAfter: null,
    };
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', stop);
  }
}

class TimeoutError extends Error {}

function headOf(egress: Egress, { url, headers, body }: Post, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const all = {
      'content-type': 'application/json',
      'content-length': length,
      'user-agent': 'Millwright',
      ...headers,
    };
    const request = egress.request(url, { method: 'POST', headers: all, signal });
    request.on('response', resolve);
    // An error after the answer is the answer's own.
    request.on('error', reject);
    request.end(body);
  });
}

/** The beginning of an answer from a public address; of another one nothing is told. Reads on for a moment, so that the endpoint can end. */
async function kept(answer: IncomingMessage): Promise<string | null> {
  const isPublic = PUBLIC.allows(answer.socket.remoteAddress ?? '');
  const chunks: Buffer[] = [];
  let length = 0;
  const limit = setTimeout(() => answer.destroy(), READ_MS);
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (length < KEPT_BYTES) chunks.push(chunk);
      length += chunk.length;
      if (length > READ_BYTES) break;
    }
  } catch {
    // It broke off: its head has come, and that counts.
  } finally {
    clearTimeout(limit);
    answer.destroy();
  }
  // PostgreSQL's JSON holds no NUL.
  return isPublic ? Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '') : null;
}

const WORDS: Record<string, string> = {
  ENOTFOUND: 'The name is not known.',
  ENODATA: 'The name has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed without an answer.',
  EHOSTUNREACH: 'There is no way to the address.',
  ENETUNREACH: 'There is no way to the address.',
  ETIMEDOUT: 'The connection was not made in time.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by itself.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name.',
};

/** What the workspace may read: nothing that names an address that a name resolved to. */
function words(error: unknown, answerMs: number): string {
  if (error instanceof TimeoutError) return `No answer came within ${answerMs / 1000} s.`;
  if (error instanceof EgressError) return error.message;
  const code = codeOf(error);
  return WORDS[code] ?? `The request failed (${code}).`;
}

function codeOf(error: unknown): string {
  // Of several addresses each has an error of its own.
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const code = (first as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'no code';
}
