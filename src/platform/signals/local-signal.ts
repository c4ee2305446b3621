import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { PgChannel } from './pg-channel.js';
import { WorkSignal } from './work-signal.js';

/** Without Redis: a direct call in a process that works itself, else a notice through PostgreSQL. */
@Injectable()
export class LocalSignal extends WorkSignal {
  private handler: ((runId: string) => void) | null = null;

  constructor(
    private readonly env: Env,
    private readonly channel: PgChannel,
  ) {
    super();
  }

  /** The worker of this process. */
  onRing(handler: (runId: string) => void): void {
    this.handler = handler;
  }

  get connected(): boolean {
    return this.channel.connected;
  }

  ring(runId: string): void {
    if (this.handler !== null) setImmediate(this.handler, runId);
    else if (!this.env.runsWork) this.channel.send({ work: runId });
  }
}
