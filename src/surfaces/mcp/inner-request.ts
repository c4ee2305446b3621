// A request that this process sends to itself: through the whole pipeline, and through no network.
import { IncomingMessage, type OutgoingHttpHeaders, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Request } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { setAuth } from '../../access/auth/auth.decorator.js';
import { requestIdOf } from '../../platform/http/request.js';
import { notesOf } from '../../platform/http/request-notes.js';

export interface InnerRequest {
  method: string;
  /** With its query. */
  path: string;
  headers?: Record<string, string>;
  body?: { type: string; bytes: Buffer };
  /** The one turn of its task that it means. */
  turn?: number;
}

export interface InnerAnswer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

/** The client has gone: nobody reads what would be answered. */
export class ClientLeft extends Error {}

/** What links are made of, and what says where the client is: of the outer request. */
const PASSED_ON = ['host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'traceparent', 'tracestate'];
const OF_SOCKET = ['remoteAddress', 'remotePort', 'localAddress', 'localPort', 'localFamily', 'encrypted'] as const;

/** Where a connection would be: it has the addresses of the client's own, and takes what is written without looking at it. */
class NoSocket extends Duplex {
  constructor(of: Socket) {
    // It takes everything at once: nobody would tell the answer that it goes on.
    super({ writableHighWaterMark: Number.MAX_SAFE_INTEGER });
    for (const name of OF_SOCKET) Object.assign(this, { [name]: (of as unknown as Record<string, unknown>)[name] });
  }
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
  setTimeout(): this {
    return this;
  }
}

/**
 * Sends a request within another one, with its id, address, host and trace; the outer one has the line of the log, the figure and the charge.
 * It ends when the client of the outer one leaves: rejects with {@link ClientLeft}. Rejects too when the answer is broken off, as that of a file is
 * whose bytes cannot be read.
 * @param auth who was found to ask; null: the credential of the outer request is looked up anew.
 */
export function sendWithin(
  app: RequestListener,
  outer: Request,
  { method, path, headers = {}, body, turn }: InnerRequest,
  auth: AuthContext | null,
): Promise<InnerAnswer> {
  const outerRes = outer.res as ServerResponse;
  if (outerRes.destroyed) return Promise.reject(new ClientLeft());
  const socket = new NoSocket(outer.socket) as unknown as Socket;
  // An answer that is broken off takes its connection with it: without somebody who listens that would end the process.
  socket.on('error', () => undefined);
  const req = new IncomingMessage(socket);
  Object.assign(req, { method, url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
  const passed = PASSED_ON.flatMap((name) => (outer.headers[name] ? [[name, String(outer.headers[name])]] : []));
  const credential = auth === null ? { authorization: String(outer.headers.authorization) } : {};
  const described = body && { 'content-type': body.type, 'content-length': String(body.bytes.length) };
  req.headers = { ...(Object.fromEntries(passed) as object), ...credential, ...headers, ...described };
  req.rawHeaders = Object.entries(req.headers).flatMap(([name, value]) => [name, String(value)]);
  if (body !== undefined) req.push(body.bytes);
  req.push(null);
  req.complete = true;
  const notes = notesOf(req as Request);
  notes.within = requestIdOf(outer.res as NonNullable<Request['res']>);
  notes.turn = turn;
  notes.span = notesOf(outer).span;
  if (auth !== null) setAuth(req as Request, auth);
  const res = new ServerResponse(req);
  res.assignSocket(socket);
  return new Promise((resolve, reject) => {
    const taken = collect(res);
    const left = () => {
      reject(new ClientLeft());
      res.destroyed = true;
      res.emit('close');
    };
    outerRes.once('close', left);
    res.once('finish', () => {
      resolve({ status: res.statusCode, headers: res.getHeaders(), body: Buffer.concat(taken) });
      res.emit('close');
    });
    res.once('close', () => {
      outerRes.off('close', left);
      reject(new Error(`The answer of ${method} ${path} was broken off.`));
    });
    res.once('error', reject);
    app(req, res);
  });
}

/** Keeps what is written of the body. Express puts methods of its own behind those of an answer: they are called, whichever they are by then. */
function collect(res: ServerResponse): Buffer[] {
  const chunks: Buffer[] = [];
  for (const name of ['write', 'end'] as const) {
    const through = (...args: unknown[]): unknown => {
      const [chunk, encoding] = args;
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding as BufferEncoding | undefined));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
      return (Object.getPrototypeOf(res) as Record<string, (...all: unknown[]) => unknown>)[name]?.apply(res, args);
    };
    Object.assign(res, { [name]: through });
  }
  return chunks;
}
