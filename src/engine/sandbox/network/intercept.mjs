// Opens the connections of one session to hosts that its secrets are bound to: puts values into requests, and masks them in answers. Each connection
// inside has one outside, as a tunnel has; what it sends next goes over the same.
import { Agent, createServer, request } from 'node:http';
import { isIP } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Authority } from './authority.mjs';
import { answer, asText, withoutHops } from './http-messages.mjs';
import { Mask, masked } from './mask.mjs';
import { Refusal } from './refusal.mjs';
import { changedHeaders, isJson, SaidBack } from './said-back.mjs';
import { PLACEHOLDER_LENGTH, Vault } from './vault.mjs';

/** Milliseconds for the head of a request, and for a handshake. */
const HEAD_MS = 10_000;
/** What is said of a body that will have another length, or another coding. */
const OF_BODY = [
  'content-length',
  'content-encoding',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
  'accept-ranges',
];
const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, br: createBrotliDecompress, deflate: createInflate };
/** More codings than one over the other nobody means well. */
const MOST_CODINGS = 2;

/**
 * @typedef {object} Outside what the proxy does for it.
 * @property {string[]} authorities PEM, whom hosts are checked by.
 * @property {(host: string, port: number, inside: import('node:net').Socket) => Promise<import('node:net').Socket>} dial a socket that connects to a checked address, or a Refusal.
 * @property {(host: string, port: number, error: Error) => Refusal} unreachable
 * @property {(said: { secret: string, host: string, what: 'used' | 'refused' | 'masked' }) => void} tell
 * @property {(host: string, port: number, refusal: Refusal) => void} refused of a request that is refused a value.
 */
export class Interceptor {
  #authority = new Authority('Millwright, for one run of a task');
  #contexts = new Map();
  /** Of each connection inside: its host, port, and the one outside. */
  #opened = new WeakMap();
  #busy = new WeakSet();
  #vault;
  #outside;
  #server;

  /** @param {import('./vault.mjs').VaultSecret[]} secrets @param {Outside} outside */
  constructor(secrets, outside) {
    this.#vault = new Vault(secrets);
    this.#outside = outside;
    this.#server = createServer({ requestTimeout: 0, headersTimeout: HEAD_MS, connectionsCheckingInterval: HEAD_MS });
    // The socket below has a time of its own, and the host decides for how long it keeps a connection.
    this.#server.keepAliveTimeout = 0;
    this.#server.on('clientError', (_error, socket) =>
      socket.end(asText(new Refusal(400, 'This is not a request that can be read.'))),
    );
    this.#server.on('request', (from, to) => {
      if (this.#busy.has(from.socket))
        return void answer(to, new Refusal(503, 'A connection takes one request at a time here.'));
      this.#busy.add(from.socket);
      to.once('close', () => this.#busy.delete(from.socket));
      void this.#serve(from, to).catch((error) => this.#refuse(from, to, error));
    });
    this.#server.on('upgrade', (from, socket, first) => {
      socket.on('error', () => socket.destroy());
      this.#upgrade(from, socket, first).catch((error) => {
        this.#note(from, error);
        socket.end(asText(error));
      });
    });
  }

  /** The certificate of the session's authority, PEM. */
  get certificate() {
    return this.#authority.certificate;
  }

  /** Values of the next requests. Those before are masked on: a host may have one of them, or an answer that is on its way. */
  change(secrets) {
    this.#vault = new Vault(secrets, this.#vault.finder);
  }

  binds(host, port) {
    return this.#vault.binds(host, port);
  }

  leads(host, port) {
    return this.#vault.leads(host, port);
  }

  /**
   * Takes over a connection that was told that it is connected.
   * @param {import('node:net').Socket} first the connection outside that was dialled for it.
   */
  open(host, port, socket, head, first) {
    if (head.length > 0) socket.unshift(head);
    const inside = new TLSSocket(socket, {
      isServer: true,
      secureContext: this.#contextOf(host),
      ALPNProtocols: ['http/1.1'],
      // A name of another host would get an answer of this one.
      SNICallback: (name, done) => (name.toLowerCase() === host ? done(null) : done(new Error('another name'))),
    });
    inside.on('error', () => inside.destroy());
    const agent = new Connection(this.#outside, { host, port, inside, first });
    socket.once('close', () => {
      inside.destroy();
      agent.destroy();
    });
    this.#opened.set(inside, { host, port, agent });
    this.#server.emit('connection', inside);
  }

  #contextOf(host) {
    let context = this.#contexts.get(host);
    if (context === undefined) {
      context = createSecureContext({ ...this.#authority.host(host), minVersion: 'TLSv1.2' });
      this.#contexts.set(host, context);
    }
    return context;
  }

  /** What goes to the host. Throws a {@link Refusal}. */
  #prepare(from, left) {
    const { host, port } = this.#opened.get(from.socket);
    const names = from.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
    const said = String(from.headers.host).toLowerCase();
    const authority = `${host}:${port}`;
    if (names.length !== 1 || (said !== authority && (port !== 443 || said !== host)))
      throw new Refusal(421, `This connection leads to ${authority}, and to no other host.`, 'other_host');
    if (!from.url.startsWith('/') && from.url !== '*') throw new Refusal(400, 'A request for a path is expected.');
    const asked = { host, port, method: from.method, target: from.url };
    const kept = withoutHops(from, ['host', 'proxy-authorization', 'proxy-connection', 'accept-encoding', ...left]);
    const { target, headers, used } = this.#vault.put({ ...asked, headers: kept });
    // An answer in pieces has pieces of a value.
    const whole = used.length === 0 ? headers : without(headers, ['range', 'if-range']);
    return { target, headers: ['Host', said, ...whole], used, changed: changedHeaders(kept, headers) };
  }

  async #serve(from, to) {
    const { host, port, agent } = this.#opened.get(from.socket);
    const { target, headers, used, changed } = this.#prepare(from, []);
    const accepted = String(from.headers['accept-encoding'] ?? '').toLowerCase();
    const codings = ['gzip', 'br'].filter((coding) => accepted.includes(coding));
    headers.push('Accept-Encoding', codings.join(', ') || 'identity');
    const asking = request({ method: from.method, path: target, headers, agent, setHost: false });
    asking.once('socket', () => this.#used(used, host));
    let refused = false;
    asking.on('error', (error) => {
      if (refused || to.destroyed) return;
      // The host ended a connection that was kept, when the next request was on its way. Seeing that, programs ask again over another one.
      if (asking.reusedSocket && !to.headersSent) return void from.socket.destroy();
      this.#refuse(from, to, this.#failure(host, port, error));
    });
    asking.once('upgrade', (_said, socket) => {
      socket.destroy();
      answer(to, this.#outside.unreachable(host, port, { message: 'it changes the protocol' }));
    });
    asking.once('response', (said) => {
      try {
        this.#answer(from, to, said, host, changed);
      } catch (error) {
        said.destroy();
        answer(to, this.#failure(host, port, error));
      }
    });
    to.once('close', () => to.writableFinished || asking.destroy());
    const body = this.#checked();
    // Not by pipeline(), which would end the connection that the refusal goes to.
    body.once('error', (error) => {
      refused = true;
      from.unpipe(body);
      this.#refuse(from, to, error);
      asking.destroy();
    });
    from.pipe(body).pipe(asking);
  }

  #answer(from, to, said, host, changed) {
    const { finder, hit, shown } = this.#masking(host);
    const empty =
      from.method === 'HEAD' ||
      said.statusCode === 204 ||
      said.statusCode === 304 ||
      said.headers['content-length'] === '0';
    const decoders = empty ? [] : decodersOf(said);
    const kept = withoutHops(said, ['proxy-authenticate', 'alt-svc', ...(empty ? [] : OF_BODY)]);
    const headers = [];
    for (let at = 0; at < kept.length; at += 2)
      if (shown(kept[at]) === kept[at]) headers.push(kept[at], shown(kept[at + 1]));
    to.writeHead(said.statusCode, shown(said.statusMessage), headers);
    if (empty) {
      said.resume();
      return void to.end();
    }
    // What has come of an event is on its way before the rest comes.
    to.flushHeaders();
    const back = isJson(said) ? changed.map((one) => new SaidBack(one)) : [];
    pipeline([said, ...decoders, ...back, new Mask(finder, { hit }), to], (error) => error && to.destroy());
  }

  /** A web socket: the frames of the host have lengths in front, which stay. */
  async #upgrade(from, socket, first) {
    const { host, port, agent } = this.#opened.get(from.socket);
    if (String(from.headers.upgrade).toLowerCase() !== 'websocket')
      throw new Refusal(501, 'A connection becomes a web socket here, and nothing else.');
    const { target, headers, used } = this.#prepare(from, ['sec-websocket-extensions']);
    const asking = request({
      method: from.method,
      path: target,
      headers: [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
      agent,
      setHost: false,
    });
    const { finder, hit, shown } = this.#masking(host);
    await new Promise((done, failed) => {
      asking.once('error', (error) => failed(this.#failure(host, port, error)));
      asking.once('response', (said) => {
        said.destroy();
        failed(new Refusal(502, `${host} does not make it a web socket: ${said.statusCode}.`));
      });
      asking.once('upgrade', (said, outside, early) => {
        this.#used(used, host);
        const lines = withoutHops(said, []).map((text, at) =>
          at % 2 === 0 ? `${shown(text)}: ` : `${shown(text)}\r\n`,
        );
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines.join('')}\r\n`,
        );
        if (first.length > 0) outside.write(first);
        const mask = new Mask(finder, { hit, keepsLength: true });
        if (early.length > 0) mask.write(early);
        pipeline(socket, outside, () => undefined);
        pipeline(outside, mask, socket, () => undefined);
        done();
      });
      asking.end();
    });
  }

  /** How what the host says is shown: bytes of a stream, and the texts of a head. */
  #masking(host) {
    const { finder } = this.#vault;
    const hit = (secret) => this.#outside.tell({ secret, host, what: 'masked' });
    return { finder, hit, shown: (text) => masked(finder, Buffer.from(text, 'latin1'), hit).toString('latin1') };
  }

  #used(secrets, host) {
    for (const secret of secrets) this.#outside.tell({ secret, host, what: 'used' });
  }

  #failure(host, port, error) {
    return error instanceof Refusal ? error : this.#outside.unreachable(host, port, error);
  }

  /** Passes a body on, until a placeholder stands in it. */
  #checked() {
    let last = Buffer.alloc(0);
    const vault = this.#vault;
    return new Transform({
      transform(chunk, _encoding, done) {
        const both = Buffer.concat([last, chunk]);
        // A placeholder that two chunks share has its beginning there.
        last = both.subarray(-PLACEHOLDER_LENGTH);
        try {
          vault.checkBody(both);
          done(null, chunk);
        } catch (error) {
          done(error);
        }
      },
    });
  }

  #refuse(from, to, error) {
    this.#note(from, error);
    answer(to, error);
  }

  #note(from, error) {
    const opened = this.#opened.get(from.socket);
    const { secret } = error;
    if (secret === undefined || opened === undefined) return;
    this.#outside.tell({ secret, host: opened.host, what: 'refused' });
    this.#outside.refused(opened.host, opened.port, error);
  }
}

/** The one connection outside that belongs to one inside; made again when the host has closed it in the middle. */
class Connection extends Agent {
  #outside;
  #at;

  constructor(outside, at) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
    this.#outside = outside;
    this.#at = at;
  }

  /** Nothing is written before the host is known by its certificate. */
  createConnection(_options, done) {
    void this.#connect().then((socket) => done(null, socket), done);
  }

  async #connect() {
    const { host, port, inside } = this.#at;
    const socket = this.#at.first ?? (await this.#outside.dial(host, port, inside));
    this.#at.first = null;
    const address = host.replace(/^\[|\]$/g, '');
    // That of a tunnel may end in one direction. This one is over with its end, and the next request goes over another one.
    socket.allowHalfOpen = false;
    const secure = connect({
      socket,
      host: address,
      servername: isIP(address) === 0 ? address : '',
      ca: this.#outside.authorities,
      ALPNProtocols: ['http/1.1'],
    });
    const late = setTimeout(() => secure.destroy(new Error('it did not answer in time')), HEAD_MS);
    await new Promise((resolve, reject) => {
      secure.once('secureConnect', resolve).once('error', reject);
      socket.once('error', reject).once('close', () => reject(new Error('it ended the connection')));
    }).finally(() => clearTimeout(late));
    // As with a tunnel: who is inside learns that this one is over.
    secure.once('close', () => inside.writableLength === 0 && inside.end());
    return secure;
  }
}

function decodersOf({ headers }) {
  // Of a transfer Node takes the chunks apart, and leaves other codings (RFC 9112, section 7.2) as they are.
  const transfer = String(headers['transfer-encoding'] ?? 'chunked').trim();
  if (transfer.toLowerCase() !== 'chunked') throw unknownCoding(transfer);
  const codings = String(headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MOST_CODINGS || codings.some((coding) => !Object.hasOwn(DECODERS, coding)))
    throw unknownCoding(codings.join(', '));
  return codings.reverse().map((coding) => DECODERS[coding]());
}

function unknownCoding(named) {
  const message = `The answer has a coding that cannot be looked into: ${named.slice(0, 100)}.`;
  return new Refusal(502, message, 'unknown_coding');
}

function without(headers, names) {
  return headers.filter((_text, at) => !names.includes(headers[at - (at % 2)].toLowerCase()));
}
