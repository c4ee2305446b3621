import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './ports.js';

/** A relay before a database that can be cut and mended, as a network can. */
export interface Relay {
  url: string;
  /** Drops every connection and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Lets the present connections stand and swallows what they carry, as a firewall that forgets them; new ones work. */
  swallow(): void;
  /** Keeps what is sent to the database from now on, and delivers it with {@link release}, as a network that was slow. */
  hold(): void;
  release(): void;
  /** Whether new connections end as soon as the database has greeted them, as when it dies in that moment. */
  dying: boolean;
  close(): Promise<void>;
}

/**
 * @param delayMs how much later than the database sends them its answers arrive: a COMMIT is done before its sender knows.
 * @param watch called for each connection; what it returns is given every chunk that the client sends.
 */
export async function relayTo(target: string, delayMs = 0, watch?: () => (chunk: Buffer) => void): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const silent: (() => void)[] = [];
  const upstreams = new Set<Socket>();
  let held = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    if (watch !== undefined) client.on('data', watch());
    client.pipe(upstream);
    upstreams.add(upstream.once('close', () => upstreams.delete(upstream)));
    if (held) upstream.cork();
    if (relay.dying) upstream.on('data', (chunk: Buffer) => lastWords(client, chunk));
    else if (delayMs === 0) upstream.pipe(client);
    else upstream.on('data', (chunk: Buffer) => setTimeout(() => client.writable && client.write(chunk), delayMs));
    silent.push(() => {
      client.unpipe(upstream);
      upstream.unpipe(client);
      upstream.removeAllListeners('data');
      client.resume();
      upstream.resume();
    });
  });
  const own = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  const cut = () =>
    new Promise<void>((resolve) => {
      if (!server.listening) return resolve();
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen();
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  const relay: Relay = {
    url: url.href,
    dying: false,
    cut,
    mend: listen,
    swallow: () => silent.splice(0).forEach((silence) => silence()),
    hold: () => {
      held = true;
      upstreams.forEach((upstream) => upstream.cork());
    },
    release: () => {
      held = false;
      upstreams.forEach((upstream) => upstream.uncork());
    },
    close: cut,
  };
  return relay;
}

/** As PostgreSQL greets (`ReadyForQuery`, idle), and what its last process says when it finds itself alone. */
const GREETING = Buffer.from('Z\0\0\0\x05I', 'latin1');
const FAREWELL = 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';

function lastWords(client: Socket, chunk: Buffer): void {
  if (!chunk.subarray(-GREETING.length).equals(GREETING)) return void client.write(chunk);
  const farewell = Buffer.from(`E\0\0\0\0${FAREWELL}`, 'latin1');
  farewell.writeInt32BE(farewell.length - 1, 1);
  client.end(Buffer.concat([chunk, farewell]));
}
