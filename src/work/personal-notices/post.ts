// One POST to an address that a person has named: a hook, or the push service of a browser.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Egress } from '../../platform/egress/egress.js';
import { secondsOf } from '../deliveries/waits.js';
import { notSent, sent, type Sent } from './sent.js';

/** Until the head of the answer is there. Milliseconds. */
const ANSWER_MS = 15_000;
/** What asks for another attempt: too many requests, and a service that takes none at the moment. */
const LATER = [429, 503];
const GONE = [404, 410];

export interface Post {
  url: URL;
  headers: Record<string, string | number>;
  body: string | Buffer;
}

/** Never rejects. Redirects are not followed; of the answer only the status counts. */
export function post(egress: Egress, { url, headers, body }: Post): Promise<Sent> {
  return new Promise((resolve) => {
    // Without a connection nothing has left this process.
    let connected = false;
    const limit = setTimeout(() => request?.destroy(new Error('No answer came in time.')), ANSWER_MS);
    const end = (result: Sent): void => {
      clearTimeout(limit);
      resolve(result);
    };
    let request: ClientRequest | undefined;
    try {
      const all = { 'user-agent': 'Millwright', ...headers, 'content-length': Buffer.byteLength(body) };
      request = egress.request(url, { method: 'POST', headers: all });
      request.on('socket', (socket) => socket.once('connect', () => (connected = true)));
      request.on('response', (answer) => end(judged(answer)));
      request.on('error', (error) => end(notSent(connected ? 'failed' : 'again', codeOf(error))));
      request.end(body);
    } catch (error) {
      // The address itself is not allowed.
      end(notSent('failed', codeOf(error)));
    }
  });
}

function judged(answer: IncomingMessage): Sent {
  const { statusCode: status = 0, headers } = answer;
  answer.destroy();
  if (status >= 200 && status < 300) return sent;
  const why = `status ${status}`;
  if (LATER.includes(status)) return notSent('again', why, secondsOf(headers['retry-after']));
  return notSent(GONE.includes(status) ? 'gone' : 'failed', why);
}

/** A code says enough, and holds no address. */
function codeOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const code = (first as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'no answer';
}
