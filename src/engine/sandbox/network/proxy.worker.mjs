// A thread that is the way out of sandboxes: a proxy for HTTP (RFC 9110, sections 7.6 and 9.3.6) on a socket for each of them
// (docs/decisions/0055). Whatever a sandbox does to its socket costs the time of this thread, and not of the event loop of the service.
// Plain JavaScript, because Node starts a thread from a file that it can run as it is.
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { pipeline } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { Counts } from './counts.mjs';
import { Door } from './door.mjs';
import { answer, asText, withoutHops } from './http-messages.mjs';
import { Interceptor } from './intercept.mjs';
import { Refusal } from './refusal.mjs';

/** @type {{ rules: { name: string, below: boolean, ports: number[] | null }[], authorities: string[] }} rules: no sandbox reaches more. */
const { rules, authorities } = workerData;

/** Connections of one sandbox at once, its own to its socket: npm opens 15, a browser 6 to a host. */
const CONNECTIONS = 64;
/** Milliseconds without a byte, for the head of a request, and until a host answers a connection. */
const [IDLE_MS, HEAD_MS, DIAL_MS] = [300_000, 10_000, 15_000];
/** How long checked addresses of a host are used. Milliseconds. */
const FRESH_MS = 10_000;
/** Milliseconds between two counts that the service is told of. */
const COUNT_MS = 1_000;
const CONNECTED = 'HTTP/1.1 200 Connection established\r\n\r\n';
try {
  // Linux has a nice value for each thread: this one gives way to the event loop. Not by more: each step of an engine passes here twice.
  setPriority(0, 5);
} catch {
  // The system does not let it: it weighs as much as the event loop.
}

const ways = new Map();
const waiting = new Map();
const fresh = new Map();
let asked = 0;

parentPort.on('message', (message) => {
  if (message.type === 'open') open(message);
  else if (message.type === 'close') close(message.id);
  else if (message.type === 'secrets') ways.get(message.id)?.interceptor?.change(message.secrets);
  else {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  }
});

function open({ id, path, rules: own, allowed, bound, secrets, door }) {
  const way = {
    id,
    rules: own,
    allowed,
    bound,
    interceptor: null,
    door: door === null ? null : new Door(door),
    counts: new Counts((said) => parentPort.postMessage({ id, ...said })),
    dropped: 0,
    sockets: new Set(),
    busy: new Set(),
  };
  if (secrets !== null) way.interceptor = new Interceptor(secrets, outsideOf(way));
  way.finding = Promise.resolve();
  way.server = createServer({ requestTimeout: 0, headersTimeout: HEAD_MS, connectionsCheckingInterval: HEAD_MS });
  const { server } = way;
  server.maxConnections = CONNECTIONS;
  server.timeout = IDLE_MS;
  server.on('connection', (socket) => {
    way.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => way.sockets.delete(socket));
  });
  server.on('drop', () => (way.dropped += 1));
  server.on('clientError', (_error, socket) => socket.destroy());
  server.on('request', (from, to) => {
    // Node hands on at once what is sent behind an open request; each would have a connection of its own to a host.
    if (way.busy.has(from.socket))
      return void answer(to, new Refusal(503, 'A connection takes one request at a time here.'));
    way.busy.add(from.socket);
    to.once('close', () => way.busy.delete(from.socket));
    const handed = way.door !== null && from.url.startsWith('/') ? way.door.hand(from, to) : forward(way, from, to);
    void handed.catch((error) => answer(to, error));
  });
  server.on('connect', (from, socket, head) => {
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    void tunnel(way, from, socket, head).catch((error) => socket.end(asText(error)));
  });
  const opened = (error) => {
    const certificate = way.interceptor?.certificate ?? null;
    parentPort.postMessage({ type: 'opened', id, error, certificate });
  };
  server.once('error', (error) => opened(error.message));
  server.listen(path, () => opened(null));
  ways.set(id, way);
}

function close(id) {
  const way = ways.get(id);
  if (way === undefined) return;
  ways.delete(id);
  way.server.close();
  way.counts.close();
  for (const socket of way.sockets) socket.destroy();
  parentPort.postMessage({ type: 'closed', id, dropped: way.dropped });
}

setInterval(() => ways.forEach(({ counts }) => counts.tell()), COUNT_MS).unref();

/** What the connections that are opened need of the proxy. */
function outsideOf(way) {
  return {
    authorities,
    dial: (hostname, port, inside) => dial(way, { hostname }, port, inside),
    unreachable: (hostname, port, error) => unreachable(way, hostname, port, error),
    tell: (said) => parentPort.postMessage({ type: 'secret', id: way.id, ...said }),
    refused: (host, port, refusal) => way.counts.refused(host, port, refusal),
  };
}

/** CONNECT: bytes both ways, whatever they are; or requests, where a secret is bound to the host. */
async function tunnel(way, { url }, socket, head) {
  const text = `https://${url}`;
  if (/[/\\?#@]/.test(url) || !URL.canParse(text)) throw notUnderstood();
  const to = new URL(text);
  const port = Number(to.port || 443);
  const outside = await dial(way, to, port, socket);
  if (way.interceptor?.binds(to.hostname, port)) {
    socket.write(CONNECTED);
    return way.interceptor.open(to.hostname, port, socket, head, outside);
  }
  await new Promise((done, failed) => outside.once('connect', done).once('error', failed)).catch((error) => {
    throw unreachable(way, to.hostname, port, error);
  });
  socket.write(CONNECTED);
  if (head.length > 0) outside.write(head);
  pipeline(socket, outside, () => undefined);
  pipeline(outside, socket, () => undefined);
}

/** A request for `http://…`, with a connection of its own. */
async function forward(way, from, to) {
  const url = URL.canParse(from.url) ? new URL(from.url) : null;
  if (url?.protocol !== 'http:' || url.username + url.password !== '') throw notUnderstood();
  const port = Number(url.port || 80);
  const failed = (error) => unreachable(way, url.hostname, port, error);
  const outside = await dial(way, url, port, from.socket);
  const headers = withoutHops(from, ['host', 'proxy-authorization', 'proxy-connection']);
  const asking = request({
    method: from.method,
    path: url.pathname + url.search,
    headers: ['Host', url.host, ...headers],
    createConnection: () => outside,
  });
  asking.on('error', (error) => to.destroyed || answer(to, failed(error)));
  // Node ends what becomes another protocol, and says no more.
  asking.once('upgrade', (_said, socket) => {
    socket.destroy();
    answer(to, failed({ message: 'it changes the protocol' }));
  });
  asking.once('response', (said) => {
    try {
      to.writeHead(said.statusCode, said.statusMessage, withoutHops(said, ['proxy-authenticate']));
    } catch (error) {
      // Node reads more as a status than it writes.
      return void answer(to, failed(error));
    }
    pipeline(said, to, (error) => error && to.destroy());
  });
  to.once('close', () => outside.destroy());
  pipeline(from, asking, () => undefined);
}

/** A socket that connects to a checked address. Throws a {@link Refusal}. */
async function dial(way, { hostname }, port, inside) {
  if (way.rules.length === 0) throw new Refusal(403, 'There is no network here.');
  if (way.bound && !way.interceptor?.leads(hostname, port)) {
    const message = `${hostname}:${port} is no host that a secret of this task is bound to, and no other may be reached from here.`;
    throw refused(way, hostname, port, new Refusal(403, message, 'host_not_bound'));
  }
  if (![rules, way.rules].every((all) => all.some((rule) => fits(rule, hostname, port)))) {
    const message = `${hostname}:${port} is not among the hosts that may be reached from here: ${way.allowed}.`;
    throw refused(way, hostname, port, new Refusal(403, message, 'host_not_allowed'));
  }
  const addresses = await addressesOf(way, hostname, port);
  if (inside.destroyed) throw new Refusal(499, 'Gone.');
  const outside = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2_000,
    lookup: (_host, { all }, done) =>
      all ? done(null, addresses) : done(null, addresses[0].address, addresses[0].family),
  });
  outside.setTimeout(DIAL_MS, () => outside.destroy(new Error('it did not answer in time')));
  outside.once('connect', () => outside.setTimeout(IDLE_MS));
  inside.once('close', () => outside.readyState === 'opening' && outside.destroy());
  way.counts.follow(hostname, port, outside);
  return outside;
}

function fits({ name, below, ports }, hostname, port) {
  return (
    (ports?.includes(port) ?? true) &&
    (below ? hostname.endsWith(name) && hostname.length > name.length : hostname === name)
  );
}

/** The addresses are found and checked by the service, one host at a time for each sandbox. */
function addressesOf(way, hostname, port) {
  const turn = way.finding.then(async () => {
    const known = fresh.get(hostname);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    const id = (asked += 1);
    const { addresses, error, blocked } = await new Promise((done) => {
      waiting.set(id, done);
      parentPort.postMessage({ type: 'find', id, host: hostname });
    });
    if (blocked) throw refused(way, hostname, port, new Refusal(403, error, 'address_not_public'));
    if (error !== null) throw unreachable(way, hostname, port, { message: error });
    if (fresh.size >= 1_000) fresh.clear();
    fresh.set(hostname, { addresses, until: performance.now() + FRESH_MS });
    return addresses;
  });
  way.finding = turn.catch(() => undefined);
  return turn;
}

function refused(way, hostname, port, refusal) {
  way.counts.refused(hostname, port, refusal);
  return refusal;
}

/** The message of an error of the system has the address, which is not for the sandbox. */
function unreachable(way, hostname, port, { code, message }) {
  way.counts.failed(hostname, port);
  return new Refusal(502, `${hostname} cannot be reached: ${code ?? message}.`);
}

function notUnderstood() {
  return new Refusal(400, 'This is a proxy for HTTP: CONNECT host:port, or a request for http://host/ is expected.');
}
