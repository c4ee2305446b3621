import { createServer, type Server, type ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ConfigurationError, Env } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';

/** `/metrics` on a port of its own, which an operator can keep from clients. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly env: Env,
    private readonly metrics: Metrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { METRICS_PORT: port, HOST: host } = this.env.variables;
    if (port === undefined) return;
    const server = createServer((req, res) => void this.answer(req.method === 'GET' && req.url === '/metrics', res));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        reject(new ConfigurationError(`METRICS_PORT: a free port is expected (${error.message}).`));
      });
      server.listen(port, host, resolve);
    });
    this.server = server;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  private async answer(known: boolean, res: ServerResponse): Promise<void> {
    if (!known) {
      res.writeHead(404).end();
      return;
    }
    const { registry } = this.metrics;
    const text = await registry.metrics().catch(() => null);
    if (text === null) res.writeHead(500).end();
    else res.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
  }
}
