import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server, type AddressInfo } from 'node:net';
import { chmodSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** Servers that nobody may reach from a sandbox, by every way that the host has. */
export class Listeners {
  /** By which way each connection came. */
  readonly connections: string[] = [];
  private readonly servers: Server[] = [];
  private readonly packets: Socket = createSocket('udp4');

  private constructor(
    readonly path: string,
    /** Of a socket without a path, which belongs to the network (unix(7)). */
    readonly name: string,
  ) {}

  static async start(path: string, name: string): Promise<Listeners> {
    const listeners = new Listeners(path, name);
    await listeners
      .listen('tcp', { port: 0, host: '::' })
      .catch(() => listeners.listen('tcp', { port: 0, host: '0.0.0.0' }));
    await listeners.listen('path', { path });
    chmodSync(path, 0o777);
    await listeners.listen('name', { path: `\0${name}` });
    listeners.packets.on('message', () => listeners.connections.push('udp'));
    await new Promise<void>((done) => listeners.packets.bind(0, '0.0.0.0', done));
    return listeners;
  }

  get tcp(): number {
    return (this.servers[0]?.address() as AddressInfo).port;
  }

  get udp(): number {
    return this.packets.address().port;
  }

  /** An address of the host that others of its network would use. */
  get hostAddress(): string {
    const all = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => new Promise((done) => server.close(done))));
    await new Promise<void>((done) => this.packets.close(done));
  }

  private async listen(way: string, at: { port: number; host: string } | { path: string }): Promise<void> {
    const server = createServer((socket) => {
      this.connections.push(way);
      socket.on('error', () => undefined).destroy();
    });
    await new Promise<void>((done, failed) => server.once('error', failed).listen(at, done));
    this.servers.push(server);
  }
}
