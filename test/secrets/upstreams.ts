// The hosts that are attacked through: one that secrets are bound to, and one of a thief. Each byte that they are sent is kept.
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, createServer as createTls, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { Authority } from '../../src/engine/sandbox/network/authority.mjs';
import { CERTIFICATE, KEY } from '../harness/web-hosts.js';
import { deliver, frames } from './deliveries.js';
import { FORMS, TRANSFORMS } from './forms.js';

/** What one connection was sent, without TLS. */
export interface Heard {
  /** Which server: the bound one, the thief's, or that for plain HTTP. */
  by: 'bound' | 'thief' | 'plain';
  /** What was said in the handshake; null: nothing. */
  name: string | null;
  bytes: Buffer[];
}

/** An address of this machine that is the thief's. */
const THIEF = '127.0.0.3';
/** Names that secrets are bound to, and that lead to the thief, or to where nobody may go, after so many look-ups. */
const REBOUND: Record<string, string[]> = {
  'r0.wild.test': [THIEF],
  'r1.wild.test': ['169.254.169.254'],
  'r2.wild.test': ['10.0.0.1'],
  'r3.wild.test': ['::ffff:169.254.169.254'],
  'r4.wild.test': ['127.0.0.1', THIEF],
  'r5.wild.test': ['::1'],
};

export class Upstreams {
  readonly heard: Heard[] = [];
  /** The last value that the host was given over a connection. */
  private readonly stored = new WeakMap<Socket, string>();
  /** Answers that wait for {@link release}. */
  private held: (() => void)[] = [];
  private readonly sockets = new Set<Socket>();
  private constructor(
    private readonly servers: (Server | TlsServer)[],
    readonly https: number,
    readonly http: number,
  ) {}

  static async start(): Promise<Upstreams> {
    const all: Upstreams[] = [];
    const on = (by: Heard['by']) => (socket: Socket) => all[0]?.take(by, socket);
    // As careless as hosts are: what a proxy lets through, it reads.
    const web = createHttp({ insecureHTTPParser: true }, (request, response) => all[0]?.answer(request, response));
    web.on('upgrade', (request: IncomingMessage, socket: Socket) => all[0]?.upgrade(request, socket));
    web.on('clientError', (_error, socket) => socket.destroy());
    const stranger = new Authority('A stranger');
    const own = createSecureContext({ cert: CERTIFICATE, key: KEY });
    const bound = createTls({ cert: CERTIFICATE, key: KEY }, on('bound'));
    const thief = createTls(
      { SNICallback: (name, done) => done(null, name === 'thief.wild.test' ? own : createSecureContext(stranger.host(name))) }, // prettier-ignore
      on('thief'),
    );
    const plain = createHttp();
    plain.removeAllListeners('connection').on('connection', on('plain'));
    for (const server of [bound, thief]) server.on('tlsClientError', () => undefined);
    await once(bound.listen(0, '127.0.0.1'), 'listening');
    const { port } = bound.address() as AddressInfo;
    await once(thief.listen(port, THIEF), 'listening');
    await once(plain.listen(0, '127.0.0.1'), 'listening');
    const made = new Upstreams([bound, thief, plain, web], port, (plain.address() as AddressInfo).port);
    made.web = web;
    all.push(made);
    return made;
  }

  private web: Server | undefined;

  get names(): Record<string, string[]> {
    const here = ['allowed.test', 'bound.wild.test', 'other.wild.test'].map((name) => [name, ['127.0.0.1']]);
    return { ...Object.fromEntries(here), 'thief.wild.test': [THIEF], ...REBOUND } as Record<string, string[]>;
  }

  get rebound(): string[] {
    return Object.keys(REBOUND).map((name) => `${name}:${this.https}`);
  }

  /** Lets the answers to `/held` go. */
  release(): number {
    const held = this.held.splice(0);
    for (const go of held) go();
    return held.length;
  }

  get waiting(): number {
    return this.held.length;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const server of this.servers) if (server.listening) await new Promise((closed) => server.close(closed));
  }

  private take(by: Heard['by'], socket: Socket): void {
    const { servername } = socket as TLSSocket;
    const one: Heard = { by, name: typeof servername === 'string' ? servername : null, bytes: [] };
    this.heard.push(one);
    this.sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.sockets.delete(socket));
    this.web?.emit('connection', socket);
    socket.on('data', (data: Buffer) => one.bytes.push(data));
  }

  /** `/echo/FORM/DELIVERY`, `/stored/FORM`, `/held/FORM`, `/to?AN ADDRESS`; else a word. */
  private answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    const [path = '', query = ''] = url.split('?');
    const [, page = '', number = '0', how = 'body'] = path.split('/');
    const said = given(request);
    if (said !== '') this.stored.set(request.socket, said);
    const form = [...FORMS, ...TRANSFORMS][Number(number)] ?? FORMS[0];
    request.resume().on('error', () => undefined);
    response.on('error', () => undefined);
    if (page === 'echo') deliver(decodeURIComponent(how), form?.said(said) ?? Buffer.alloc(0), request, response);
    else if (page === 'stored') response.end(form?.said(this.stored.get(request.socket) ?? ''));
    else if (page === 'held')
      this.held.push(() => deliver('body', form?.said(said) ?? Buffer.alloc(0), request, response));
    else if (page === 'to') response.writeHead(Number(number) || 302, { Location: decodeURIComponent(query) }).end();
    else response.end(`seen ${request.headers.host}\n`);
  }

  private upgrade(request: IncomingMessage, socket: Socket): void {
    const [, , number = '0', how = 'whole'] = (request.url ?? '').split('/');
    const form = [...FORMS, ...TRANSFORMS][Number(number)] ?? FORMS[0];
    socket.on('error', () => undefined);
    const said = form?.said(given(request)) ?? Buffer.alloc(0);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    for (const frame of [...frames(said, how), ...frames(Buffer.from('end'), 'whole')]) socket.write(frame);
    socket.end();
  }
}

/** What stands where a value may. */
function given({ headers, url = '' }: IncomingMessage): string {
  const [scheme = '', word = ''] = (headers.authorization ?? '').split(' ');
  const basic = /^basic$/i.test(scheme) ? (Buffer.from(word, 'base64').toString().split(':')[1] ?? '') : word;
  const key = /[?&]key=([^&]*)/.exec(url)?.[1] ?? '';
  const scoped = headers['x-scoped'];
  return [basic, tryDecode(key), typeof scoped === 'string' ? scoped : ''].find((one) => one !== '') ?? '';
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
