import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Time for answers under way, milliseconds. A client that does not read would keep the process alive without end. */
const GRACE_MS = 3_000;

/** On the way down: idle connections end at once, the others after a moment. */
@Injectable()
export class ConnectionCloser implements BeforeApplicationShutdown {
  constructor(private readonly host: HttpAdapterHost) {}

  beforeApplicationShutdown(): void {
    // Absent in the operator command, which has no HTTP.
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (server === undefined) return;
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.once('close', () => clearTimeout(timer));
  }
}
