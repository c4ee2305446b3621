// What both ways through the proxy have in common: headers that end between two neighbours, and answers in place of a host.
import { STATUS_CODES } from 'node:http';
import { asRefusal } from './refusal.mjs';

/** What is between two neighbours and not handed on (RFC 9110, section 7.6.1); the body is framed anew. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect'];

/** The names and values in turn, without those of {@link HOP_BY_HOP}, those that `Connection` names, and some more. */
export function withoutHops({ rawHeaders, headers }, more) {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const chunked = headers['transfer-encoding'] !== undefined;
  const left = new Set([...HOP_BY_HOP, ...more, ...named]);
  if (!chunked) left.add('transfer-encoding');
  const kept = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!left.has(rawHeaders[at].toLowerCase())) kept.push(rawHeaders[at], rawHeaders[at + 1]);
  }
  return kept;
}

/** Answers in place of the host; of an answer that has begun nothing can be said any more. */
export function answer(to, error) {
  if (to.headersSent) return void to.destroy();
  const { status, message, code } = asRefusal(error);
  // What the request goes on with is not read.
  to.writeHead(status, STATUS_CODES[status] ?? 'Error', {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Millwright-Refused': code,
    Connection: 'close',
  });
  to.end(`${message}\n`);
}

/** The same, where a socket is all that there is. */
export function asText(error) {
  const { status, message, code } = asRefusal(error);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(message) + 1}`,
    `X-Millwright-Refused: ${code}`,
    'Connection: close',
    '',
    `${message}\n`,
  ].join('\r\n');
}
