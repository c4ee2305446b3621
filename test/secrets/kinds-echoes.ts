// What the bound host says of the value that it was given: in 22 forms, in each part of an answer.
import { ask, base64, bearer, http, type Kind, pick, type Scene } from './attempt.js';
import { FORMS } from './forms.js';

const MASKED = /\[secret |HTTP\/1\.1 304/;
/** Masked, or refused as a whole, or left out. */
const HELD = /HTTP\/1\.1 (200|302|304|502|500|206)/;

/** A request that has the value of one of the secrets, for a page. */
function given(scene: Scene, page: string, n: number, lines: string[] = []) {
  const { bound, basic, token, key } = scene;
  if (n % 3 === 0) return ask(bound, { target: page, lines: [bearer(token), ...lines] });
  if (n % 3 === 1) return ask(bound, { target: `${page}?key=${key}`, lines });
  return ask(basic, { target: page, lines: [`Authorization: Basic ${base64(`x:${token}`)}`, ...lines] });
}

/** Each number is another form; forms and secrets have no common turn. */
const echoed = (name: string, how: readonly string[], shows: RegExp = HELD, lines: string[] = []): Kind => ({
  name: `echo: ${name}`,
  shows,
  make: (scene, n) => given(scene, `/echo/${(n * 5) % FORMS.length}/${encodeURIComponent(pick(how, n))}`, n, lines),
});

export const ECHOES: Kind[] = [
  echoed('the body', ['body'], MASKED),
  echoed('gzip', ['gzip', 'bytes of gzip', 'two of gzip'], MASKED, ['Accept-Encoding: gzip, br, deflate']),
  echoed('br and deflate', ['br', 'deflate'], MASKED),
  echoed('two codings', ['twice'], MASKED),
  echoed('one byte a write', ['bytes'], MASKED),
  echoed('JSON with the header', ['JSON', 'JSON, byte by byte']),
  echoed('events', ['events', 'error', 'until the end'], MASKED),
  echoed('Location', ['location'], HELD),
  echoed('Set-Cookie', ['cookie'], HELD),
  echoed('the reason', ['reason'], HELD),
  echoed('another header', ['header', 'not modified'], HELD),
  echoed('the name of a header', ['name'], HELD),
  echoed('folded headers', ['folded'], HELD),
  echoed('trailers and hints', ['trailers', 'hints', 'chunk extensions'], HELD),
  echoed('codings of the transfer', ['transfer gzip', 'transfer deflate'], HELD),
  echoed('answers that lie about their length', ['both lengths', 'second answer', 'no HTTP'], HELD),
  echoed('codings that cannot be looked into', ['zstd', 'lying gzip', 'behind gzip'], HELD),
  echoed('a part', ['part'], MASKED, ['Range: bytes=0-9', 'If-Range: "a"']),
  {
    name: 'echo: a web socket',
    shows: /101 Switching Protocols/,
    make: (scene, n) => {
      const { to, send } = given(scene, `/ws/${(n * 5) % FORMS.length}/${pick(['whole', 'bytes'], n)}`, n, ['Upgrade: websocket', 'Sec-WebSocket-Extensions: permessage-deflate']); // prettier-ignore
      return { to, send: [(send[0] ?? '').replace('Connection: close', 'Connection: Upgrade')] };
    },
  },
  {
    name: 'echo: what the host has stored',
    shows: MASKED,
    make: ({ bound, token }, n) => ({
      to: bound,
      turns: true,
      send: [
        http(bound, { lines: [bearer(token)] }).replace('Connection: close', 'Connection: keep-alive'),
        http(bound, { target: `/stored/${(n * 5) % FORMS.length}` }),
      ],
    }),
  },
  {
    name: 'echo: other methods',
    shows: HELD,
    make: ({ bound, token }, n) => ask(bound, { method: pick(['POST', 'PUT', 'TRACE', 'OPTIONS', 'DELETE', 'PATCH', 'PROPFIND'], n), target: `/echo/${(n * 5) % FORMS.length}/body`, lines: [bearer(token)] }), // prettier-ignore
  },
];
