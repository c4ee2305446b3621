// The way of a program to its model: an HTTP server on the connections that the sandbox hands over (reference §30).
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BadWireRequest, STREAM_TYPE, type Wire, type WireRequest } from '../wires/wire.js';

/** Bytes of a request. */
const MOST_BYTES = 32 * 1024 ** 2;
/** Requests at once. */
const MOST_REQUESTS = 8;
/** Milliseconds after which a program that waits for a stream is told that it still comes: some give up when nothing does. */
const ALIVE_MS = 15_000;

interface Body {
  contentType: string;
  body: string | Buffer;
  status?: number;
}

/** What becomes of one request. */
export class Reply {
  private readonly gone = new AbortController();
  private alive: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly wire: Wire,
    streams: boolean,
  ) {
    response.on('close', () => {
      clearInterval(this.alive);
      this.gone.abort(new ProgramLeftError('The program waits no more.'));
    });
    response.on('error', () => undefined);
    if (streams) this.alive = setInterval(() => this.signOfLife(), ALIVE_MS);
  }

  /** Aborted when the program does not wait any more, or is answered. */
  get closed(): AbortSignal {
    return this.gone.signal;
  }

  /** Whether it was handed over: a program that waits no more is told nothing. */
  send({ contentType, body, status = 200 }: Body): boolean {
    clearInterval(this.alive);
    if (this.closed.aborted || this.response.destroyed) return false;
    if (!this.response.headersSent) this.response.writeHead(status, { 'content-type': contentType });
    this.response.end(body);
    return true;
  }

  refuse(status: number, code: string, message: string): void {
    const error = this.wire.error(status, code, message);
    if (this.response.headersSent) this.abandon();
    else this.send(error);
  }

  /** Without an answer. */
  abandon(): void {
    clearInterval(this.alive);
    this.response.destroy();
  }

  private signOfLife(): void {
    if (!this.response.headersSent) this.response.writeHead(200, { 'content-type': STREAM_TYPE });
    this.response.write(': \n\n');
  }
}

/** A program has closed its connection before it was answered. */
export class ProgramLeftError extends Error {
  override readonly name = 'ProgramLeftError';
}

export interface DoorHandlers {
  /** The public id of its model. */
  model: string;
  /** Names of tools that are taken out. */
  hide: readonly string[];
  /** Answers, sooner or later. It does not reject. */
  ask(request: WireRequest, reply: Reply, headers: IncomingMessage['headers']): Promise<void>;
  /** Answers what is sent to `/mcp`; null: nothing is offered there. */
  mcp: ((request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>) | null;
}

export class Door {
  private readonly server = createServer((request, response) => void this.serve(request, response));
  private readonly open = new Set<Duplex>();
  private count = 0;

  constructor(
    private readonly wire: Wire,
    private readonly handlers: DoorHandlers,
  ) {
    // A model may think for as long as it likes: its own limits end that.
    this.server.requestTimeout = 0;
    this.server.timeout = 0;
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** A connection from inside of the sandbox. */
  readonly take = (connection: Duplex): void => {
    this.open.add(connection);
    connection.on('error', () => undefined);
    connection.once('close', () => this.open.delete(connection));
    this.server.emit('connection', connection);
  };

  close(): void {
    for (const connection of this.open) connection.destroy();
    this.server.closeAllConnections();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?');
    response.on('error', () => undefined);
    if (path === '/v1/models' && request.method === 'GET') return this.models(response);
    const isMcp = path === '/mcp' && this.handlers.mcp !== null;
    if (!isMcp && (path !== this.wire.path || request.method !== 'POST')) {
      return this.refuse(response, 404, 'not_found', 'There is nothing at this address.');
    }
    if (this.count >= MOST_REQUESTS) {
      return this.refuse(
        response,
        429,
        'rate_limit_exceeded',
        `At most ${MOST_REQUESTS} requests at once are answered.`,
      );
    }
    this.count++;
    response.once('close', () => this.count--);
    const body = await read(request).catch(() => undefined);
    if (body === undefined) return void response.destroy();
    if (body === null) return this.refuse(response, 413, 'too_large', 'At most 32 MiB are accepted.');
    if (isMcp) return void (await this.handlers.mcp?.(request, response, body).catch(() => response.destroy()));
    const asked = this.parse(body, response);
    if (asked === null) return;
    await this.handlers.ask(asked, new Reply(response, this.wire, asked.streams), request.headers);
  }

  private parse(body: string, response: ServerResponse): WireRequest | null {
    try {
      return this.wire.read(JSON.parse(body), this.handlers.hide);
    } catch (error) {
      if (!(error instanceof BadWireRequest || error instanceof SyntaxError)) throw error;
      this.refuse(response, 400, 'invalid_request_error', error.message);
      return null;
    }
  }

  private models(response: ServerResponse): void {
    const one = { id: this.handlers.model, object: 'model', type: 'model', created: 0, owned_by: 'millwright' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [one], has_more: false }));
  }

  private refuse(response: ServerResponse, status: number, code: string, message: string): void {
    const error = this.wire.error(status, code, message);
    response.writeHead(error.status, { 'content-type': error.contentType });
    response.end(error.body);
  }
}

/** Null: there is more than is accepted. */
async function read(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read and dropped, so that the program hears why.
    if (size <= MOST_BYTES) chunks.push(chunk);
    else if (size > 2 * MOST_BYTES) throw new Error('The request does not end.');
  }
  return size > MOST_BYTES ? null : Buffer.concat(chunks).toString('utf8');
}
