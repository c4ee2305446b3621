// A placeholder where no binding names a place for it.
import { ask, base64, bearer, cut, http, type Kind, pick } from './attempt.js';

/** Refused, or sent as it stands. */
const ANSWERED = /HTTP\/1\.1 (200|403)/;
const REFUSED = /X-Millwright-Refused: secret_(misplaced|not_bound)/i;
/** Ends what the parser refuses. */
const ENDED = /HTTP\/1\.1 (200|400|403|421)|^HTTP\/1.1 200 Connection established\r\n\r\n$/;

const turned = (text: string) => [...text].reverse().join('');
const codes = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');

export const PLACES: Kind[] = [
  {
    name: 'in another header',
    shows: REFUSED,
    make: ({ bound, token }, n) => ask(bound, { lines: [`${pick(['X-Other', 'Authorization2', 'X-Authorization', 'Api-Key', 'If-None-Match', 'Content-Type', 'Range'], n)}: ${token}`] }), // prettier-ignore
  },
  {
    name: 'in headers that hosts show to others',
    shows: REFUSED,
    make: ({ bound, token }, n) => ask(bound, { lines: [`${pick(['Cookie: a=', 'Referer: https://', 'User-Agent: ', 'Origin: https://', 'Via: 1.1 ', 'Forwarded: for=', 'X-Forwarded-For: '], n)}${token}`] }), // prettier-ignore
  },
  {
    name: 'as the name of a header',
    shows: REFUSED,
    make: ({ bound, token }) => ask(bound, { lines: [`${token}: x`] }),
  },
  {
    name: 'in the path',
    shows: REFUSED,
    make: ({ bound, token }, n) => ask(bound, { target: `/${pick([token, codes(token), codes(codes(token)), `a/${token}/b`, `a;t=${token}`, `%6dwsec_${token.slice(6)}`], n)}` }), // prettier-ignore
  },
  {
    name: 'in another parameter',
    shows: REFUSED,
    make: ({ bound, key, token }, n) => ask(bound, { target: `/a?${pick([`other=${key}`, `key=${token}`, `${key}=x`, `Key=${key}`, `key=x${key}`, `key=${key};a`, `key=${key}%20`, `a=b?key=${key}`, `key=${codes(token)}`], n)}` }), // prettier-ignore
  },
  { name: 'behind a fragment', shows: REFUSED, make: ({ bound, key }, n) => ask(bound, { target: pick([`/a#${key}`, `/a?key=${key}#x`, `/a?b#key=${key}`], n) }) }, // prettier-ignore
  {
    name: 'in a body',
    // A host answers before the body is whole, if it likes.
    shows: ANSWERED,
    make: ({ bound, token }, n) => ask(bound, { method: pick(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'], n), body: pick([`{"t":"${token}"}`, `t=${token}`, `--x\r\nContent-Disposition: form-data; name="t"\r\n\r\n${token}\r\n--x--`, `${'x'.repeat(70_000)}${token}`], n), lines: [bearer(token)] }), // prettier-ignore
  },
  {
    name: 'in a body, cut',
    shows: ANSWERED,
    make: ({ bound, token }, _n, random) => {
      const [first, second] = cut(token, random);
      const head = http(bound, { method: 'POST', lines: [bearer(token), 'Transfer-Encoding: chunked'] });
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
      return { to: bound, send: [head, chunk(first), chunk(second), '0\r\n\r\n'] };
    },
  },
  {
    name: 'in trailers',
    shows: ANSWERED,
    make: ({ bound, token }, n) => ask(bound, { method: 'POST', lines: ['Trailer: Authorization', 'Transfer-Encoding: chunked', ...(n % 2 === 0 ? [] : [bearer(token)])], body: `1\r\na\r\n0\r\n${bearer(token)}\r\nX-Other: ${token}\r\n\r\n` }), // prettier-ignore
  },
  {
    name: 'as the method',
    shows: ENDED,
    make: ({ bound, token }, n) => ask(bound, { method: pick([token, `GET${token}`, token.toUpperCase()], n) }),
  },
  {
    name: 'in a header that is there twice',
    shows: REFUSED,
    make: ({ bound, token }, n) => ask(bound, { lines: pick([[bearer(token), bearer(token)], [bearer(token), 'authorization: x'], ['AUTHORIZATION: x', bearer(token)], ['Authorization:', bearer(token)], [bearer(token), `authorization: Basic ${base64(`x:${token}`)}`]], n) }), // prettier-ignore
  },
  {
    name: 'in another form',
    shows: REFUSED,
    make: ({ bound, basic, token }, n) => {
      const wrong = [token, `token ${token}`, `Bearer ${token} x`, `Bearer x${token}`, `Digest ${token}`, `Bearer Bearer ${token}`].map((text) => [bound, text]); // prettier-ignore
      const others = [`Bearer ${token}`, token, `Basic ${base64(`${token}x:${token}x`)}`, `Basic ${base64(`x:${token}:y`)}`].map((text) => [basic, text]); // prettier-ignore
      const [host = '', text] = pick([...wrong, [bound, `Basic ${base64(`x:${token}`)}`], ...others], n);
      return ask(host, { lines: [`Authorization: ${text}`] });
    },
  },
  {
    name: 'split',
    shows: ANSWERED,
    make: ({ bound, token }, n, random) => {
      const [first, second] = cut(token, random);
      const lines = pick([[`Authorization: Bearer ${first}`, `Authorization2: ${second}`], [`Authorization: Bearer ${first} ${second}`], [`Authorization: Bearer ${first}`, `Authorization: ${second}`]], n); // prettier-ignore
      return ask(bound, { lines });
    },
  },
  {
    name: 'encoded',
    shows: ANSWERED,
    make: ({ bound, token }, n) => ask(bound, { lines: [`Authorization: Bearer ${pick([codes(token), token.toUpperCase(), token.toLowerCase(), turned(token), Buffer.from(token).toString('hex'), `"${token}"`, `=?utf-8?B?${base64(token)}?=`], n)}`] }), // prettier-ignore
  },
  {
    name: 'in Base64 of Base64',
    shows: ANSWERED,
    make: ({ basic, token }, n) => ask(basic, { lines: [`Authorization: Basic ${pick([base64(base64(`x:${token}`)), base64(base64(base64(token))), base64(`x:Basic ${base64(`x:${token}`)}`), base64(`x:${base64(token)}`)], n)}`] }), // prettier-ignore
  },
  {
    name: 'in headers of one hop',
    shows: ANSWERED,
    make: ({ bound, token }, n) => ask(bound, { lines: pick([['Connection: authorization', bearer(token)], [`Proxy-Authorization: Bearer ${token}`], [`Keep-Alive: ${token}`], [`TE: ${token}`], [`Connection: ${token}`], [`Upgrade: ${token}`]], n) }), // prettier-ignore
  },
  {
    name: 'beside the paths of its binding',
    shows: REFUSED,
    make: ({ bound, scoped }, n) => ask(bound, { target: pick(['/a', '/repos/acme/../other', '/repos/acme/%2e%2e/other', '/repos/acme/..%2fother', '//repos/acme/a', '/repos/acme\\..\\x', '/repos/acme/%252e%252e/x', '/REPOS/acme/a', '/repos/acmeevil', '/?/repos/acme/a', '/repos/acme/%2e./x', '/repos/acme//../x'], n), lines: [`X-Scoped: ${scoped}`] }), // prettier-ignore
  },
  {
    name: 'beside the methods of its binding',
    shows: REFUSED,
    make: ({ bound, scoped }, n) => ask(bound, { method: pick(['POST', 'HEAD', 'DELETE', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND'], n), target: '/repos/acme/a', lines: [`X-Scoped: ${scoped}`, 'X-HTTP-Method-Override: GET'] }), // prettier-ignore
  },
  {
    name: 'of another secret',
    shows: REFUSED,
    make: ({ bound, basic, key, scoped, token }, n) => pick([ask(bound, { lines: [bearer(key)] }), ask(bound, { lines: [bearer(scoped)] }), ask(bound, { target: `/a?key=${scoped}` }), ask(bound, { target: '/repos/acme/a', lines: [`X-Scoped: ${token}`] }), ask(basic, { target: `/a?key=${key}`, lines: [`Authorization: Basic ${base64(`x:${token}`)}`] })], n), // prettier-ignore
  },
  {
    name: 'in its place, of a secret that waits for a person',
    shows: /X-Millwright-Refused: secret_not_approved/i,
    make: ({ bound, waiting, token }, n) => {
      const target = `/a?wait=${waiting}`;
      const ways = [{ lines: [bearer(waiting)] }, { lines: [`authorization: bearer  ${waiting}`] }, { target }, { target: `/a?b=c&%77ait=${codes(waiting)}` }, { target, lines: [bearer(token)] }, { method: 'POST', body: 'a', lines: [bearer(waiting)] }, { target: '/ws/0/whole', lines: ['Upgrade: websocket', bearer(waiting)] }]; // prettier-ignore
      const asked = http(bound, pick(ways, n));
      return { to: bound, send: [asked.includes('Upgrade') ? asked.replace('Connection: close', 'Connection: Upgrade') : asked] }; // prettier-ignore
    },
  },
];
