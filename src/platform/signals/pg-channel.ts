import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import pg from 'pg';
import { connectionOptions } from '../database/database.js';
import { DatabaseServer } from '../database/database-server.js';
import type { Ring } from './work-signal.js';

const CHANNEL = 'millwright';
const RECONNECT_MS = 500;
// A frozen back end keeps its socket open; only an unanswered question shows it.
const HEARTBEAT_MS = 500;
const ANSWER_LIMIT_MS = 2_000;

/**
 * What one process tells the others: that there is work, that a run must stop, why a model cannot be called (null: it can), what
 * happens to tasks that somebody follows.
 */
export type Notice = { work: Ring } | { stop: string } | { model: ModelNotice } | { events: EventNotice };
/** Of {@link EventNews}. `from` is the process that sends it. */
export interface EventNotice {
  from: string;
  /** There may be new events of these tasks and workspaces. */
  changed?: string[];
  /** The process follows these; `pieces`: it wants what is passed on of them; `begins`: from the beginning of what is at hand. */
  follows?: { ids: string[]; pieces: boolean; begins: boolean };
  piece?: { taskId: string; [name: string]: unknown };
}
export interface ModelNotice {
  id: string;
  refusal: { code: string; message: string } | null;
}
type Listener = (notice: Notice) => void;

/**
 * Notices between processes through PostgreSQL, never inside a transaction: NOTIFY takes a lock that serialises commits
 * (16 writers: 15,500 commits/s without, 3,940 with). So a connection of its own sends them after the commit, those of one
 * turn of the event loop in one statement. They may be lost: the tables are certain.
 */
@Injectable()
export class PgChannel implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PgChannel.name);
  private readonly listeners: Listener[] = [];
  private readonly reconnected: (() => void)[] = [];
  private pending: Notice[] = [];
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

  /** Calls `listener` for every notice, this process's own included. */
  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Calls `listener` after the connection was lost and came back: notices may have been missed. */
  onReconnect(listener: () => void): void {
    this.reconnected.push(listener);
  }

  send(notice: Notice): void {
    if (this.closed) return;
    this.pending.push(notice);
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
    const notices = this.pending;
    this.pending = [];
    if (this.client === null || notices.length === 0) return;
    // unnest keeps it one statement; a payload is far below NOTIFY's 8,000 bytes.
    const text = `SELECT pg_notify($1, p) FROM unnest($2::text[]) p`;
    this.ask(this.client, text, [CHANNEL, notices.map((n) => JSON.stringify(n))]).catch((error: unknown) =>
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
    client.on('notification', ({ payload }) => this.receive(payload));
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

  private receive(payload: string | undefined): void {
    const notice = noticeOf(payload);
    if (notice === null) this.logger.warn('A notice that no process of this service sends was ignored.');
    else for (const listener of this.listeners) listener(notice);
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
        () => this.reconnected.forEach((listener) => listener()),
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

/** Null for a text that no process of this service sends: all users of the database may send on the channel. */
function noticeOf(payload: string | undefined): Notice | null {
  let value: unknown;
  try {
    value = JSON.parse(payload ?? '');
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  if ('stop' in value && typeof value.stop === 'string') return { stop: value.stop };
  if ('model' in value && isModelNotice(value.model)) return { model: value.model };
  if ('events' in value && isEventNotice(value.events)) return { events: value.events };
  return 'work' in value && isRing(value.work) ? { work: value.work } : null;
}

function isModelNotice(value: unknown): value is ModelNotice {
  if (!hasText(value, 'id') || !('refusal' in value)) return false;
  return value.refusal === null || (hasText(value.refusal, 'code') && hasText(value.refusal, 'message'));
}

function isEventNotice(value: unknown): value is EventNotice {
  if (!hasText(value, 'from')) return false;
  const { changed = [], follows, piece } = value as Partial<EventNotice>;
  const named = follows === undefined || isListed((follows as typeof follows | null)?.ids);
  return isListed(changed) && named && (piece === undefined || hasText(piece, 'taskId'));
}

function isListed(ids: unknown): boolean {
  return Array.isArray(ids) && ids.every((id) => typeof id === 'string');
}

function isRing(value: unknown): value is Ring {
  return hasText(value, 'kind') && hasText(value, 'id');
}

function hasText<K extends string>(value: unknown, key: K): value is Record<K, string> {
  return typeof value === 'object' && value !== null && typeof (value as Record<K, unknown>)[key] === 'string';
}

/** `end()` would wait for the server's goodbye; a frozen one never says it. */
function destroy(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
