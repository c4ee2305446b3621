import { Injectable } from '@nestjs/common';
import { PgChannel } from './pg-channel.js';
import { type Ring, WorkSignal } from './work-signal.js';

type Listener = (ring: Ring) => void;

/** Without Redis: a direct call in a process that works itself, else a notice through PostgreSQL. */
@Injectable()
export class LocalSignal extends WorkSignal {
  private readonly listeners: Listener[] = [];

  constructor(private readonly channel: PgChannel) {
    super();
  }

  /** A worker of this process. It leaves kinds alone that are not its own. */
  onRing(listener: Listener): void {
    this.listeners.push(listener);
  }

  get connected(): boolean {
    return this.channel.connected;
  }

  ring(kind: string, id: string): void {
    if (this.listeners.length === 0) this.channel.send({ work: { kind, id } });
    for (const listener of this.listeners) setImmediate(listener, { kind, id });
  }
}
