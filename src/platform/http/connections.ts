import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Safeguards } from '../config/safeguards.js';
import { connectionLimit, LINGERING } from '../config/descriptors.js';
import { Env } from '../config/env.js';
import { Metrics } from '../metrics/metrics.js';
import { ApiError } from './api-error.js';
import { networkOf } from './network.js';
import { requestIdOf } from './request.js';

/** Milliseconds between two looks at the connections. */
export const SWEEP_MS = 5_000;
/** Milliseconds in which a client takes the next piece of its answer: 64 KiB of a file, and all of anything else. */
const UNREAD_MS = 60_000;
/** And one second more for so many bytes that wait: an answer in JSON is one piece, however long. */
const UNREAD_RATE = 16 * 1024;
/** Milliseconds in which a body ends whose request is answered already. */
const UNSENT_MS = 30_000;
/** Milliseconds that a connection beyond the cap has to be told so; beyond {@link LINGERING} of them the service closes it without a word. */
const LINGER_MS = 2_000;
/** Milliseconds between two lines of the log about it. */
const QUIET_MS = 60_000;

/** Connections that share a limit: all of them, or those of one network. */
interface Group {
  most: number;
  open: number;
  /** Those without a request under way, the longest first. */
  idle: Set<Connection>;
}

interface Connection {
  socket: Socket;
  groups: Group[];
  network: string;
  requests: number;
  /** Bytes that the system had taken at the look of `takenAt`. */
  taken: number;
  takenAt: number;
  /** A request that was answered before its body had come, and the time by which it has to. */
  unsent: IncomingMessage | null;
  unsentUntil: number;
}

type Trust = (address: string, hop: number) => boolean;

/**
 * Bounds the connections of the service (reference §16): how many are open, in all and from one address, and how long a client may keep
 * one with half a request or with an answer that it does not read. At a bound, the connection that has been without a request for
 * longest makes room, so that a flood of idle ones stops nobody; only where all have a request under way is a new one refused.
 */
@Injectable()
export class Connections {
  private readonly logger = new Logger('Connections');
  private readonly open = new Map<Socket, Connection>();
  private readonly networks = new Map<string, Group>();
  private all = group(0);
  private mostOfNetwork = 0;
  private readonly refused = new WeakMap<Socket, ApiError>();
  private lingering = 0;
  private loggedAt = -Infinity;
  private readonly closed;

  constructor(
    private readonly env: Env,
    private readonly safeguards: Safeguards,
    metrics: Metrics,
  ) {
    this.closed = metrics.counter('connections_closed_total', 'Connections that the service closed.', 'reason');
    metrics.gauge('connections', 'Open connections, with a request under way or without.', 'state', () => {
      const { open, idle } = this.all;
      return Promise.resolve([
        ['active', open - idle.size],
        ['idle', idle.size],
      ]);
    });
  }

  /**
   * Watches a server that does not listen yet. Throws a {@link ConfigurationError} when the system does not allow as many connections as are
   * configured. `trust` says of an address whether it is a proxy's: those have no limit of their own.
   */
  watch(server: Server, trust: Trust): void {
    const { most, warning } = connectionLimit(this.env);
    if (warning !== null) this.logger.warn(warning);
    this.all = group(most);
    this.mostOfNetwork = Math.max(1, Math.floor(most / 2));
    const inForce = [`Connections: at most ${most}, ${this.mostOfNetwork} of them from one address.`];
    this.safeguards.report({ inForce });
    server.on('connection', (socket: Socket) => this.admit(socket, trust));
    server.on('request', (req: IncomingMessage, res: ServerResponse) => this.begin(req, res));
    const timer = setInterval(() => this.sweep(performance.now()), SWEEP_MS).unref();
    server.once('close', () => clearInterval(timer));
  }

  /** Answers the request of a connection that is one too many. */
  readonly middleware = (req: Request, res: Response, next: NextFunction): void => {
    const error = this.refused.get(req.socket);
    if (error === undefined) return next();
    const body = JSON.stringify(error.body(requestIdOf(res)));
    const type = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
    res.writeHead(error.status, { ...error.headers, ...type, Connection: 'close' }).end(body);
  };

  /** Closes the connections whose client does not go on. `now` is of `performance.now()`. */
  sweep(now: number): void {
    for (const connection of this.open.values()) {
      if (this.isUnread(connection, now)) this.close(connection, 'unread');
      else if (connection.unsent?.complete === false && now > connection.unsentUntil) this.close(connection, 'unsent');
    }
  }

  private admit(socket: Socket, trust: Trust): void {
    const { remoteAddress } = socket;
    // It has gone already.
    if (remoteAddress === undefined) return;
    const network = networkOf(remoteAddress);
    const own = trust(remoteAddress, 0) ? null : (this.networks.get(network) ?? group(this.mostOfNetwork));
    const groups = own === null ? [this.all] : [own, this.all];
    const full = groups.find(({ open, most, idle }) => open >= most && idle.size === 0);
    if (full !== undefined) {
      this.refuse(socket, full);
      return;
    }
    for (const { open, most, idle } of groups) {
      const [longest] = idle;
      if (open >= most && longest !== undefined) this.close(longest, 'displaced');
    }
    const connection = { socket, groups, network, requests: 0, taken: 0, takenAt: 0, unsent: null, unsentUntil: 0 };
    this.open.set(socket, connection);
    if (own !== null) this.networks.set(network, own);
    for (const { idle } of groups) idle.add(connection);
    for (const one of groups) one.open += 1;
    socket.once('close', () => this.leave(connection));
  }

  private begin(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.open.get(req.socket);
    if (connection === undefined) return;
    connection.requests += 1;
    connection.unsent = null;
    for (const { idle } of connection.groups) idle.delete(connection);
    res.once('close', () => this.end(connection, req));
  }

  private end(connection: Connection, req: IncomingMessage): void {
    connection.requests -= 1;
    if (!this.open.has(connection.socket) || connection.requests > 0) return;
    for (const { idle } of connection.groups) idle.add(connection);
    connection.unsent = req.complete ? null : req;
    connection.unsentUntil = performance.now() + UNSENT_MS;
  }

  private isUnread(connection: Connection, now: number): boolean {
    const { socket } = connection;
    const waits = socket.writableLength;
    const taken = socket.bytesWritten - waits;
    if (waits === 0 || taken !== connection.taken || connection.takenAt === 0) {
      connection.taken = taken;
      connection.takenAt = now;
      return false;
    }
    return now - connection.takenAt > UNREAD_MS + (waits / UNREAD_RATE) * 1_000;
  }

  private close(connection: Connection, reason: string): void {
    this.closed.inc({ reason });
    this.leave(connection);
    connection.socket.destroy();
  }

  /** May be called twice for a connection. */
  private leave(connection: Connection): void {
    if (!this.open.delete(connection.socket)) return;
    for (const one of connection.groups) {
      one.open -= 1;
      one.idle.delete(connection);
      if (one.open === 0 && one !== this.all) this.networks.delete(connection.network);
    }
  }

  private refuse(socket: Socket, full: Group): void {
    this.closed.inc({ reason: 'refused' });
    const where = full === this.all ? 'The service' : 'Your address';
    const message = `${where} has ${full.most} connections with a request under way, and no more are taken.`;
    this.log(message);
    if (this.lingering >= LINGERING) {
      socket.destroy();
      return;
    }
    this.refused.set(socket, new ApiError('unavailable', message));
    this.lingering += 1;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.lingering -= 1;
    });
  }

  private log(message: string): void {
    const now = performance.now();
    if (now - this.loggedAt < QUIET_MS) return;
    this.loggedAt = now;
    this.logger.warn(`A connection was refused (MAX_CONNECTIONS): ${message}`);
  }
}

function group(most: number): Group {
  return { most, open: 0, idle: new Set() };
}
