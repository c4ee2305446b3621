import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Time for answers under way, in milliseconds. Without a limit a client that does not read would keep the process alive. */
const GRACE_MS = 3_000;

/** When the process ends it closes idle connections at once, and the others after a moment. */
@Injectable()
export class ConnectionCloser implements BeforeApplicationShutdown {
  constructor(private readonly host: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    // The operator command has no HTTP, and so no adapter.
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (server === undefined) return;
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.once('close', () => clearTimeout(timer));
  }
}
