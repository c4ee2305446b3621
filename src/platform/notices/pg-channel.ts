import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import pg from 'pg';
import { connectionOptions } from '../database/database.js';
import { DatabaseServer } from '../database/database-server.js';

const CHANNEL = 'millwright';
const RECONNECT_MS = 500;
// A frozen back end keeps its socket open; only an unanswered question shows it.
const HEARTBEAT_MS = 500;
const ANSWER_LIMIT_MS = 2_000;

/**
 * Takes texts to all processes through PostgreSQL, never inside a transaction: NOTIFY takes a lock that serialises commits
 * (16 writers: 15,500 commits/s without, 3,940 with). So a connection of its own sends them after the commit, those of one
 * turn of the event loop in one statement. They may be lost: the tables are certain.
 */
@Injectable()
export class PgChannel implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PgChannel.name);
  private listener: (text: string) => void = () => undefined;
  private reconnected: () => void = () => undefined;
  private pending: string[] = [];
  private client: pg.Client | null = null;
  private closed = false;
  private timer: NodeJS.Timeout | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly server: DatabaseServer) {}

  async onModuleInit(): Promise<void> {
    await this.connect();
  }

  get connected(): boolean {
    return this.client !== null;
  }

  /** Calls `listener` for every text, this process's own included. */
  onText(listener: (text: string) => void): void {
    this.listener = listener;
  }

  /** Calls `listener` after the connection was lost and came back: texts may have been missed. */
  onReconnect(listener: () => void): void {
    this.reconnected = listener;
  }

  /** @param text has fewer than 8,000 bytes, the most that NOTIFY takes. */
  send(text: string): void {
    if (this.closed) return;
    this.pending.push(text);
    if (this.pending.length === 1) setImmediate(() => this.flush());
  }

  async onApplicationShutdown(): Promise<void> {
    // What was sent in this turn of the event loop still goes out: an operator command ends right after it.
    this.flush();
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.last;
    const { client } = this;
    if (client === null) return;
    // A server that is silent says no goodbye either.
    const limit = setTimeout(() => destroy(client), ANSWER_LIMIT_MS);
    await client.end().catch(() => undefined);
    clearTimeout(limit);
  }

  private flush(): void {
    const texts = this.pending;
    this.pending = [];
    if (this.client === null || texts.length === 0) return;
    // unnest keeps it one statement.
    const statement = `SELECT pg_notify($1, p) FROM unnest($2::text[]) p`;
    this.ask(this.client, statement, [CHANNEL, texts]).catch((error: unknown) =>
      this.logger.warn(`Notices were not sent: ${String(error)}`),
    );
  }

  // One statement after the other: pg 9 will not queue them for us.
  private ask(client: pg.Client, text: string, values?: unknown[]): Promise<unknown> {
    const asked = this.last.then(() => client.query(text, values));
    // What is not answered in time ends the connection, and with it what waits behind it.
    this.last = asked.catch(() => destroy(client));
    return asked;
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      // Losing a notice in a crash of the server is harmless; waiting for the disk at each is not.
      ...connectionOptions(this.server.url, 'millwright channel', '-c synchronous_commit=off'),
      query_timeout: ANSWER_LIMIT_MS,
    });
    client.on('error', () => undefined);
    client.on('end', () => this.lost(client));
    client.on('notification', ({ payload = '' }) => this.listener(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    this.last = Promise.resolve();
    this.watch(client);
  }

  private lost(client: pg.Client): void {
    if (this.client !== client || this.closed) return;
    this.client = null;
    this.logger.warn('The connection for notices was lost; trying again.');
    this.retry();
  }

  private retry(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.connect().then(
        () => this.reconnected(),
        () => this.retry(),
      );
    }, RECONNECT_MS);
  }

  private watch(client: pg.Client): void {
    this.timer = setTimeout(() => {
      this.ask(client, 'SELECT 1').then(
        () => this.client === client && !this.closed && this.watch(client),
        () => undefined,
      );
    }, HEARTBEAT_MS);
    this.timer.unref();
  }
}

/** `end()` would wait for the server's goodbye; a frozen one never says it. */
function destroy(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
