import type { Server } from 'node:http';
import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/**
 * Milliseconds that answers under way have from the stop on, at the same time as the running commands have theirs. Without a
 * limit a client that does not read would keep the process alive.
 */
const GRACE_MS = 3_000;
/** Of these, milliseconds after the commands have ended: until then the port is open, and a request may have just come. */
const LAST_MS = 1_000;

/** When the process ends it closes idle connections at once, and the others after a moment. */
@Injectable()
export class ConnectionCloser implements OnModuleDestroy, BeforeApplicationShutdown {
  /** By `performance.now()`. */
  private stoppedAt = 0;

  constructor(private readonly host: HttpAdapterHost) {}

  onModuleDestroy(): void {
    this.stoppedAt = performance.now();
  }

  /** Nest calls it after the executor's, which waits for the commands, because this module is global. */
  beforeApplicationShutdown(): void {
    // The operator command has no HTTP, and so no adapter.
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (server === undefined) return;
    server.closeIdleConnections();
    const left = this.stoppedAt + GRACE_MS - performance.now();
    const timer = setTimeout(() => server.closeAllConnections(), Math.max(left, LAST_MS));
    server.once('close', () => clearTimeout(timer));
  }
}
