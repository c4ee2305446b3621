// Requests that two readers read in two ways: what one takes for a body is the next request for the other.
import { ask, base64, bearer, http, type Kind, nameOf, pick } from './attempt.js';

/** TLS is up, whatever came of the request. */
const CONNECTED = /^HTTP\/1\.1 200 Connection established/;

export const FRAMING: Kind[] = [
  {
    name: 'folded lines',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { lines: pick([['X-A: b', ` ${bearer(token)}`], ['Authorization: Bearer', ` ${token}`], ['Authorization:', `\t${bearer(token).slice(15)}`], [' Authorization: x', bearer(token)]], n) }), // prettier-ignore
  },
  {
    name: 'odd bytes in a head',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { lines: pick([[`X-A: b\n${bearer(token)}`], [`X-A: b\r${bearer(token)}`], [`Authorization : Bearer ${token}`], [`Authorization\x0b: Bearer ${token}`], [`X-A: \0${token}`], [`Authorization: Bearer\x0b${token}`], [`Authorization: Bearer\xa0${token}`], [`\xefAuthorization: Bearer ${token}`]], n) }), // prettier-ignore
  },
  {
    name: 'Content-Length and Transfer-Encoding',
    shows: CONNECTED,
    make: ({ bound, thief, token }, n) => {
      const inner = http(thief, { lines: [`X-Other: ${token}`] });
      const lines = [['Content-Length: 4', 'Transfer-Encoding: chunked'], ['Transfer-Encoding: chunked', `Content-Length: ${inner.length + 5}`], ['content-length: 0', 'transfer-ENCODING: Chunked'], ['Content-Length:4', 'Transfer-Encoding:\tchunked']]; // prettier-ignore
      return ask(bound, { method: 'POST', lines: [bearer(token), ...pick(lines, n)], body: `0\r\n\r\n${inner}` });
    },
  },
  {
    name: 'codings of the transfer',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { method: 'POST', lines: [bearer(token), ...pick([['Transfer-Encoding: xchunked'], ['Transfer-Encoding: chunked, identity'], ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], ['Transfer-Encoding: \x0bchunked'], ['Transfer-Encoding : chunked'], ['Transfer-Encoding: gzip, chunked'], ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], ['Transfer-Encoding: "chunked"']], n)], body: `0\r\n\r\n${http(bound, { lines: [`X-Other: ${token}`] })}` }), // prettier-ignore
  },
  {
    name: 'two lengths',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { method: 'POST', lines: [bearer(token), ...pick([['Content-Length: 0', 'Content-Length: 90'], ['Content-Length: 0, 90'], ['Content-Length: +0'], ['Content-Length: 0x10'], ['Content-Length: -1'], ['Content-Length: 00']], n)], body: http(bound, { lines: [`X-Other: ${token}`] }) }), // prettier-ignore
  },
  {
    name: 'requests behind each other',
    shows: CONNECTED,
    make: ({ bound, thief, token }, n) => {
      const first = http(bound, { lines: [bearer(token)] }).replace('Connection: close', 'Connection: keep-alive');
      const second = pick([http(thief, { lines: [bearer(token)] }), http(bound, { lines: [`X-Other: ${token}`] }), http(bound, { target: `/${token}` }), token], n); // prettier-ignore
      return { to: bound, send: n % 2 === 0 ? [first + second] : [first, second] };
    },
  },
  {
    name: 'chunks that lie',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { method: 'POST', lines: [bearer(token), 'Transfer-Encoding: chunked'], body: pick([`1;x=${token}\r\na\r\n0\r\n\r\n`, `ffffffffffffffff\r\n${token}`, `-1\r\n${token}\r\n0\r\n\r\n`, `1\n${token}\n0\n\n`, `0${'0'.repeat(40)}1e\r\n${token}\r\n0\r\n\r\n`, `1 \r\na\r\n0\r\n\r\n${http(bound, { target: `/${token}` })}`], n) }), // prettier-ignore
  },
  {
    name: 'the preface of HTTP/2',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ({ to: bound, send: [pick(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', `PRI * HTTP/2.0\r\n${bearer(token)}\r\n\r\nSM\r\n\r\n`, http(bound, { lines: [bearer(token), 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', `HTTP2-Settings: ${base64(token)}`] })], n)] }), // prettier-ignore
  },
  {
    name: 'HTTP/2 in the handshake',
    make: ({ bound, token }, n) => ask(bound, { lines: [bearer(token)] }, { tls: { alpn: pick([['h2'], ['h3', 'h2'], ['spdy/3.1'], ['http/1.0'], ['acme-tls/1']], n) } }), // prettier-ignore
  },
  {
    name: 'other versions of HTTP',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { version: pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'ICY', 'RTSP/1.0', ''], n), host: n % 3 === 0 ? null : bound, lines: [bearer(token), `X-Other: ${token}`] }), // prettier-ignore
  },
  {
    name: 'a target that names another host',
    shows: /HTTP\/1\.1 4(00|03|21)|200 Connection established\r\n\r\n$/,
    make: ({ bound, thief, token }, n) => ask(bound, { target: pick([`https://${thief}/`, `http://${thief}/`, thief, `//${thief}/`, `https://${bound}@${thief}/`, '*', `https:${thief}`], n), method: n % 3 === 2 ? 'CONNECT' : 'GET', lines: [bearer(token), `X-Other: ${token}`] }), // prettier-ignore
  },
  {
    name: 'heads of many lines',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { lines: pick([[`X-A: ${'a'.repeat(20_000)}`, bearer(token)], [...Array.from({ length: 500 }, (_, at) => `X-${at}: a`), bearer(token)], [...Array.from({ length: 2500 }, () => 'A:'), bearer(token), `X-Other: ${token}`], [`X-Other: ${'a'.repeat(8000)}${token}`]], n) }), // prettier-ignore
  },
  {
    name: 'placeholders in what becomes another protocol',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ({
      to: bound,
      send: [
        http(bound, { target: '/ws/0', lines: [`Upgrade: ${pick(['websocket', 'h2c', 'other', 'websocket, h2c'], n)}`, n % 2 === 0 ? bearer(token) : 'X-A: b'] }).replace('Connection: close', 'Connection: Upgrade'), // prettier-ignore
        `\x81\x1e${token}`,
        http(bound, { lines: [bearer(token)] }),
      ],
    }),
  },
  {
    name: 'bodies of a request that becomes a web socket',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ({ to: bound, send: [http(bound, { method: pick(['GET', 'POST'], n), target: '/ws/0', lines: ['Upgrade: websocket', bearer(token), pick(['Content-Length: 90', 'Transfer-Encoding: chunked'], n)], body: http(bound, { target: `/${token}` }) }).replace('Connection: close', 'Connection: Upgrade')] }), // prettier-ignore
  },
  {
    name: 'an expectation, and the body all the same',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { method: 'POST', lines: [`Expect: ${pick(['100-continue', token, '200-ok'], n)}`, bearer(token)], body: `t=${token}` }), // prettier-ignore
  },
  {
    name: 'characters that look alike',
    shows: CONNECTED,
    make: ({ bound, token }, n) => ask(bound, { host: pick([bound, nameOf(bound)], n), lines: [pick([`Authorization: Bearer mwsec\xe2\x80\x8b_${token.slice(6)}`, `Authorization: Bearer ${token}\xe2\x80\x8b`, `Authorization: Be\xc5\x93rer ${token}`, `Author\xc4\xb1zation: Bearer ${token}`], n)] }), // prettier-ignore
  },
];
