import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import { Database } from '../database/database.js';
import { Transactions } from '../database/transactions.js';
import { WorkLoop } from '../jobs/work-loop.js';
import { Metrics } from '../metrics/metrics.js';
import { Notices } from '../notices/notices.js';
import { markedMethods } from '../plugins/providers.js';
import { ADVANCE, BEHIND, FAIL, NEXT, REGISTER, type Taken } from './event-handlers.sql.js';
import { type DomainEvent, type EventMethod, eventTypesOf } from './on-event.js';

/** How often a handler fails at an event before it steps over it. */
const TRIES = 20;

/** How many events that mean nothing to the handler one transaction passes by. Each by itself would cost four round trips. */
const BATCH = 50;

/**
 * From a notice to the look, in milliseconds. An event can be read when all transactions that began before it are over, and what
 * comes meanwhile is read by the same look: a service under load ends hundreds of tasks a second.
 */
const SOON_MS = 200;

/** Milliseconds. On a connection that was cut without a word everything else would wait behind these. */
const LIMIT_MS = 5_000;

interface Handler {
  /** `Class.method`. */
  name: string;
  types: string[];
  handle: EventMethod;
}

interface KnownHandler extends Handler {
  reading: WorkLoop;
}

/**
 * Reads the log for the handlers of this process (see `@OnEvent`): at once when something in this process has written an event
 * or a run is to stop, else each second.
 */
@Injectable()
export class EventHandlers implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Events');
  private readonly failures;
  private handlers: KnownHandler[] = [];
  private readonly log = new WorkLoop({ at: 'the events', look: () => this.readBehind(), delayMs: SOON_MS });
  private stopping = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly notices: Notices,
    metrics: Metrics,
  ) {
    const help = 'Failures of handlers of events: the event comes again, or is stepped over.';
    this.failures = metrics.counter('event_failures_total', help, 'handler', 'outcome');
  }

  onModuleInit(): void {
    this.notices.on('workspace', () => this.look());
    this.notices.on('stop', () => this.look());
  }

  async onApplicationBootstrap(): Promise<void> {
    this.handlers = this.find();
    await this.register();
  }

  /** Once an hour too: what no process has had for long is forgotten (see `EventPurge`). */
  @Interval(3_600_000)
  async register(): Promise<void> {
    if (this.handlers.length > 0) await this.database.polling.run(REGISTER({ names: this.names }), LIMIT_MS);
  }

  /** Looks for events, and reads them for each handler that has some. */
  @Interval(1000)
  look(): void {
    if (this.handlers.length > 0) void this.log.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.log.end();
    await Promise.all(this.handlers.map(({ reading }) => reading.end()));
  }

  private get names(): string[] {
    return this.handlers.map(({ name }) => name);
  }

  private async readBehind(): Promise<void> {
    const behind = await this.database.polling.run(BEHIND({ names: this.names }), LIMIT_MS);
    const names = behind.map(({ name }) => name);
    for (const { name, reading } of this.handlers) if (names.includes(name)) void reading.wake();
  }

  /** Until nothing is left, the handler fails, or another process has it. */
  private async read(handler: Handler): Promise<void> {
    while (!this.stopping && (await this.readSome(handler)));
  }

  /** Up to the first event that means something to the handler. True when there may be more. */
  private async readSome(handler: Handler): Promise<boolean> {
    const { name, types } = handler;
    let at: Taken | undefined;
    try {
      await this.transactions.open(async (tx) => {
        for (const taken of await tx.run(NEXT({ name, types, limit: BATCH }))) {
          at = taken;
          if (taken.matches && (await handler.handle(eventOf(taken), tx)) !== false) break;
        }
        if (at !== undefined) await tx.run(ADVANCE({ name, xid: at.xid, id: at.id }));
      });
      return at !== undefined;
    } catch (error) {
      if (at?.matches !== true) throw error;
      return this.failed(name, at, error);
    }
  }

  /** True when the handler goes on with the next event. */
  private async failed(name: string, taken: Taken, error: unknown): Promise<boolean> {
    const { xid, id, fromXid, fromId, type } = taken;
    const failed = FAIL({ name, xid, id, fromXid, fromId, tries: TRIES });
    const [found] = await this.database.polling.run(failed, LIMIT_MS);
    // Another process has handled it meanwhile.
    if (found === undefined) return true;
    const { givesUp } = found;
    this.failures.inc({ handler: name, outcome: givesUp ? 'stepped_over' : 'retried' });
    const what = `The handler ${name} failed at the event ${eventOf(taken).id} (${type})`;
    if (givesUp) this.logger.error(`${what} ${TRIES} times and steps over it: ${String(error)}`);
    else this.logger.warn(`${what}, and is tried again: ${String(error)}`);
    return givesUp;
  }

  private find(): KnownHandler[] {
    const found = new Map<string, KnownHandler>();
    const marked = markedMethods<EventMethod, string[]>(this.discovery, 'handler', eventTypesOf);
    for (const { name, mark: types, call: handle } of marked) {
      if (found.has(name)) {
        throw new Error(`Two handlers of events are called ${name}: rename one of the classes or methods.`);
      }
      const handler: Handler = { name, types, handle };
      const look = () => this.read(handler);
      found.set(name, { ...handler, reading: new WorkLoop({ at: `the events of ${name}`, look }) });
    }
    return [...found.values()];
  }
}

function eventOf({ taskId, seq, eventId, type, workspaceId, data, createdAt }: Taken): DomainEvent {
  return { id: eventId ?? `${taskId}-${seq}`, type, workspaceId, taskId, seq, data, createdAt };
}
