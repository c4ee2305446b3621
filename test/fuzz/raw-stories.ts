// What no client library sends: broken, cut, slow and crowded bytes on a connection of their own.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { PATIENCE } from './transport.js';

/** How long an answer is waited for before the client closes its half. Milliseconds. */
const PAUSE = 250;

/** `KEY` stands for a good key, `HOST` for the service. Latin 1: one character is one byte. */
export interface RawStory {
  request: string;
  defect: string;
  /** Where it is cut, or how small its pieces are. */
  at: number;
  /** After the last byte the client waits for an answer, or closes its half at once, or goes away. */
  end: 'wait' | 'half' | 'gone';
}

interface Parts {
  line: string;
  headers: string[];
  body: string;
}

const FORM = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nraw\r\n--b--\r\n';
const AUTHORIZED = ['Host: HOST', 'Authorization: Bearer KEY'];
const JSON_TYPE = 'Content-Type: application/json';

const REQUESTS: Record<string, Parts> = {
  list: { line: 'GET /v1/tasks HTTP/1.1', headers: AUTHORIZED, body: '' },
  open: { line: 'GET /health/live HTTP/1.1', headers: ['Host: HOST'], body: '' },
  head: { line: 'HEAD /v1/models HTTP/1.1', headers: AUTHORIZED, body: '' },
  create: withBody('POST /v1/projects HTTP/1.1', [...AUTHORIZED, JSON_TYPE], '{"name":"raw"}'),
  task: withBody('POST /v1/tasks HTTP/1.1', [...AUTHORIZED, JSON_TYPE, 'Idempotency-Key: raw'], '{"content":"raw"}'),
  upload: withBody('POST /v1/uploads HTTP/1.1', [...AUTHORIZED, 'Content-Type: multipart/form-data; boundary=b'], FORM),
  stranger: withBody(
    'POST /v1/uploads HTTP/1.1',
    ['Host: HOST', 'Content-Type: multipart/form-data; boundary=b'],
    FORM,
  ),
  nowhere: withBody('POST /v1/nothing HTTP/1.1', AUTHORIZED, 'x'.repeat(200)),
};

function withBody(line: string, headers: string[], body: string): Parts {
  return { line, headers: [...headers, `Content-Length: ${body.length}`], body };
}

function text({ line, headers, body }: Parts): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
}

const more = (parts: Parts, ...headers: string[]): string =>
  text({ ...parts, headers: [...parts.headers, ...headers] });
const otherLength = (parts: Parts, ...lengths: (number | string)[]): string => {
  const headers = parts.headers.filter((line) => !line.startsWith('Content-Length'));
  return text({ ...parts, headers: [...headers, ...lengths.map((length) => `Content-Length: ${length}`)] });
};
const inChunks = (parts: Parts, chunks: string): string => {
  const headers = parts.headers.filter((line) => !line.startsWith('Content-Length'));
  return text({ ...parts, headers: [...headers, 'Transfer-Encoding: chunked'], body: chunks });
};
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const otherLine = (parts: Parts, change: (line: string) => string) => text({ ...parts, line: change(parts.line) });
const pieces = (whole: string, size: number) => whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

/** Bytes in the pieces in which they are sent. */
const DEFECTS: Record<string, (parts: Parts, at: number) => string | string[]> = {
  none: (parts) => text(parts),
  cut: (parts, at) => text(parts).slice(0, at % text(parts).length),
  slow: (parts, at) => pieces(text(parts), 20 + at),
  'in two': (parts, at) => [text(parts).slice(0, at), text(parts).slice(at)],
  crowded: (parts) => text(parts).repeat(5),
  'crowded and cut': (parts, at) => (text(parts).repeat(3) + text(parts).slice(0, at)),
  'garbage behind': (parts) => `${text(parts)}\x16\x03\x01NONSENSE`,
  'garbage before': (parts) => `\0\0${text(parts)}`,
  'empty lines before': (parts) => `\r\n\r\n${text(parts)}`,
  'too long a length': (parts) => otherLength(parts, parts.body.length + 10),
  'too short a length': (parts) => otherLength(parts, Math.max(0, parts.body.length - 5)),
  'a negative length': (parts) => otherLength(parts, -1),
  'a huge length': (parts) => otherLength(parts, '99999999999999999999'),
  'a length over the limit': (parts) => otherLength(parts, 2 ** 40),
  'no number as length': (parts) => otherLength(parts, '1e2'),
  'two lengths': (parts) => otherLength(parts, parts.body.length, parts.body.length + 1),
  'length and chunks': (parts) => more(parts, 'Transfer-Encoding: chunked'),
  chunks: (parts) => inChunks(parts, `${chunk(parts.body)}0\r\n\r\n`),
  'many chunks': (parts) => inChunks(parts, `${pieces(parts.body, 3).map(chunk).join('')}0\r\n\r\n`),
  'chunks without end': (parts) => inChunks(parts, chunk(parts.body)),
  'a broken chunk': (parts) => inChunks(parts, `zz\r\n${parts.body}\r\n0\r\n\r\n`),
  'a huge chunk': (parts) => inChunks(parts, `ffffffffffffffff\r\n${parts.body}`),
  'a trailer': (parts) => inChunks(parts, `${chunk(parts.body)}0\r\nX-Trailer: 1\r\n\r\n`),
  'an unknown encoding': (parts) => more(parts, 'Transfer-Encoding: zip'),
  'bare line feeds': (parts) => text(parts).replaceAll('\r\n', '\n'),
  'no host': (parts) => text({ ...parts, headers: parts.headers.slice(1) }),
  'two hosts': (parts) => more(parts, 'Host: other'),
  'an odd host': (parts) => text({ ...parts, headers: ['Host: a b"<>%00', ...parts.headers.slice(1)] }),
  'no colon': (parts) => more(parts, 'nonsense'),
  'a space before the colon': (parts) => more(parts, 'X-Odd : 1'),
  'a folded header': (parts) => more(parts, 'X-Odd: 1\r\n 2'),
  'a NUL in a header': (parts) => more(parts, 'X-Odd: \0'),
  'bytes in a header': (parts) => more(parts, 'X-Odd: \xff\xfe\x80'),
  'two credentials': (parts) => more(parts, 'Authorization: Bearer x'),
  'a huge header': (parts) => more(parts, `X-Long: ${'x'.repeat(20_000)}`),
  'many headers': (parts) => more(parts, ...Array<string>(3000).fill('X: 1')),
  'a huge path': (parts) => otherLine(parts, (line) => line.replace(' HTTP', `${'x'.repeat(20_000)} HTTP`)),
  'a byte in the path': (parts) => otherLine(parts, (line) => line.replace(' HTTP', '\xe9 HTTP')),
  'a space in the path': (parts) => otherLine(parts, (line) => line.replace(' HTTP', ' x HTTP')),
  'an absolute path': (parts) => otherLine(parts, (line) => line.replace(' /', ' http://HOST/')),
  'another origin': (parts) => otherLine(parts, (line) => line.replace(' /', ' http://user:x@other:99999/')),
  'no path': (parts) => otherLine(parts, (line) => line.replace(/ \S+ /, ' * ')),
  'two slashes': (parts) => otherLine(parts, (line) => line.replace(' /', ' //')),
  'an unknown method': (parts) => otherLine(parts, (line) => line.replace(/^\w+/, 'FETCH')),
  'a small method': (parts) => otherLine(parts, (line) => line.replace(/^\w+/, (word) => word.toLowerCase())),
  'a tunnel': (parts) => otherLine(parts, () => 'CONNECT HOST HTTP/1.1'),
  'HTTP 0.9': (parts) => otherLine(parts, (line) => line.replace(/ HTTP.*/, '')),
  'HTTP 1.0': (parts) => otherLine(parts, (line) => line.replace(/1\.1$/, '1.0')),
  'HTTP 2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP 9.9': (parts) => otherLine(parts, (line) => line.replace(/1\.1$/, '9.9')),
  TLS: () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'another protocol': (parts) => more(parts, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'),
  'a question first': (parts) => text({ ...parts, headers: [...parts.headers, 'Expect: 100-continue'], body: '' }),
}; // prettier-ignore

export const rawStory: fc.Arbitrary<RawStory> = fc.record({
  request: fc.constantFrom(...Object.keys(REQUESTS)),
  defect: fc.constantFrom(...Object.keys(DEFECTS)),
  at: fc.nat(400),
  end: fc.constantFrom('wait', 'wait', 'half', 'gone'),
});

/** The bytes, in the pieces in which they are sent. */
export function piecesOf({ request, defect, at }: RawStory, host: string, key: string): string[] {
  const parts = REQUESTS[request];
  const made = parts === undefined ? [] : (DEFECTS[defect]?.(parts, at) ?? []);
  return [made].flat().map((piece) => piece.replaceAll('HOST', host).replaceAll('KEY', key));
}

/** Sends them and resolves with everything that came back until the service closed the connection. */
export async function tell(url: string, sent: string[], end: RawStory['end']): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const heard: Buffer[] = [];
  socket.on('data', (chunk) => heard.push(chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()));
  // A service that refuses what it hears may close while more is being written: that is no fault.
  socket.on('error', () => undefined);
  for (const piece of sent) {
    await written(socket, piece);
    if (sent.length > 1) await pause(5);
  }
  // What is incomplete gets no answer before its end; Node answers nobody who has closed his half.
  if (end === 'wait') await Promise.race([answered, closed, pause(PAUSE)]);
  if (end === 'gone') socket.destroy();
  else socket.end();
  const late = new AbortController();
  await Promise.race([
    closed,
    pause(PATIENCE, undefined, { signal: late.signal }).then(() => {
      throw new Error(`The connection is still open after ${PATIENCE} ms.`);
    }),
  ]).finally(() => {
    late.abort();
    socket.destroy();
  });
  return Buffer.concat(heard).toString('latin1');
}

function written(socket: Socket, piece: string): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => socket.write(piece, 'latin1', () => resolve()));
}

/** What is wrong with everything that came back, or null. */
export function rawProblem(heard: string): string | null {
  const heads = [...heard.matchAll(/^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/gm)];
  if (heard !== '' && heads.length === 0) return 'The answer is no HTTP.';
  for (const [head, status] of heads) {
    // 501 is the answer to a method that the service does not know.
    if (Number(status) >= 500 && status !== '501') return `${status}: the fault is the service's.`;
    if (status !== '100' && !/^X-Request-Id: /m.test(head)) return `${status} without X-Request-Id.`;
  }
  const errors = [...heard.matchAll(/\{"error":.*?\}\}/g)].map(([body]) => JSON.parse(body) as { error: object });
  return errors.every(({ error }) => Object.keys(error).length === 6) ? null : 'An error of another shape.';
}
