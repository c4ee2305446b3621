// What a host that is broken, or means harm, answers with.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Serve = (response: ServerResponse) => void;

export const text =
  (body: string | Buffer, type = 'application/json', status = 200, headers: Record<string, string> = {}): Serve =>
  (response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  text(JSON.stringify(value), 'application/json; charset=utf-8', status, headers);

export function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(`${' '.repeat(65_535)}[`));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

export function cut(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('[{"full_name"', () => response.socket?.destroy());
}

export class HostileHost {
  /** What it does with each request. */
  serve: Serve = () => undefined;
  /** Requests that have come. */
  asked = 0;

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<HostileHost> {
    const server = createServer((_request, response) => {
      host.asked++;
      host.serve(response);
    });
    const host = new HostileHost(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return host;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
