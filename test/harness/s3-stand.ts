// A bucket for tests, with faults in front of it: a proxy that does what `s3rver` lacks. Its gaps (3.7.1): it aborts and lists no uploads
// in parts, compares no checksum, has no clock of its own, and a file is half-written while a PUT goes on.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readdir, utimes } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('s3-server.mjs', import.meta.url));
/** What S3 allows a clock to be wrong. Milliseconds. */
const SKEW = 15 * 60_000;

/** What happens to a request in place of its answer, or to its answer. */
export type Fault =
  | { answer: number; code: string }
  | { cutRequest: true }
  /** After so many bytes of the body. */
  | { cutAnswer: number }
  | { alterRequest: true }
  | { alterAnswer: true };

export interface Call {
  method: string;
  /** Below the bucket, without the query. */
  key: string;
  query: URLSearchParams;
}

/** The service's own credentials; the SDK finds them as it would anywhere. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

export class S3Stand {
  /** Asked for each request; null lets it through. */
  fault: (call: Call) => Fault | null = () => null;
  /** How far the clock of the bucket is ahead. Milliseconds. */
  clock = 0;
  /** Uploads in parts that are neither complete nor aborted: id → key and when they began. */
  readonly uploads = new Map<string, { key: string; initiated: number }>();
  /** How many answers with an object's bytes are under way. */
  downloads = 0;
  private last: Promise<unknown> = Promise.resolve();
  private proxy: Server | undefined;
  private port = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly behind: { port: number; directory: string },
  ) {}

  static async start(): Promise<S3Stand> {
    Object.assign(process.env, S3_CREDENTIALS);
    const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const stand = new S3Stand(child, JSON.parse(line) as { port: number; directory: string });
    await stand.listen();
    return stand;
  }

  /** What names this bucket to the service. */
  get env() {
    return { STORAGE: 's3', S3_BUCKET: 'files', S3_PREFIX: 'tests', S3_ENDPOINT: `http://127.0.0.1:${this.port}` };
  }

  /** The same for a process of its own. */
  get processEnv() {
    return { ...this.env, ...S3_CREDENTIALS };
  }

  /** From here on connections are refused. */
  async refuse(): Promise<void> {
    this.proxy?.closeAllConnections();
    await new Promise((resolve) => this.proxy?.close(resolve));
  }

  /** Resolves when so many connections of this process have been refused, from the call on. */
  async refused(times: number): Promise<void> {
    let left = times;
    await new Promise<void>((resolve) => {
      const watch = (message: unknown) =>
        (message as { socket: Socket }).socket.once(
          'error',
          ({ code, port }: NodeJS.ErrnoException & { port?: number }) => {
            if (code !== 'ECONNREFUSED' || port !== this.port || --left > 0) return;
            unsubscribe('net.client.socket', watch);
            resolve();
          },
        );
      subscribe('net.client.socket', watch);
    });
  }

  /** On the same port as before. */
  async listen(): Promise<void> {
    this.proxy = createServer((req, res) => void this.serve(req, res).catch(() => res.destroy()));
    this.proxy.listen(this.port, '127.0.0.1');
    await once(this.proxy, 'listening');
    this.port = (this.proxy.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.refuse();
    this.child.stdin?.end();
    await once(this.child, 'exit');
  }

  /** Keys of the objects below `files/`, without the prefix: of all but the mark of the installation. */
  async objects(): Promise<string[]> {
    const root = join(this.behind.directory, 'files', 'tests');
    const found = await readdir(root, { recursive: true }).catch(() => []);
    return found.filter((name) => name.endsWith(OBJECT) && name.startsWith('files/')).map((name) => name.slice(0, -OBJECT.length)).sort(); // prettier-ignore
  }

  /** Makes all objects old. */
  async age(at = new Date(0)): Promise<void> {
    const root = join(this.behind.directory, 'files', 'tests');
    for (const name of await readdir(root, { recursive: true }).catch(() => [])) {
      if (/_S3rver_/.test(name)) await utimes(join(root, name), at, at);
    }
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://s3');
    const call = { method: req.method ?? 'GET', key: url.pathname.replace(/^\/files\/?/, ''), query: url.searchParams };
    res.setHeader('Date', new Date(this.now()).toUTCString());
    const fault = this.fault(call);
    if (fault !== null && 'cutRequest' in fault) {
      await once(req, 'readable');
      return void req.socket.destroy();
    }
    const body = await buffer(req);
    if (fault !== null && 'answer' in fault) return refuse(res, fault.answer, fault.code);
    if (fault !== null && 'alterRequest' in fault) alter(body);
    if (Math.abs(dateOf(req) - this.now()) > SKEW) return refuse(res, 403, 'RequestTimeTooSkewed');
    const checksum = req.headers['x-amz-checksum-sha256'];
    if (checksum !== undefined && checksum !== createHash('sha256').update(body).digest('base64')) {
      return refuse(res, 400, 'BadDigest');
    }
    if (call.query.has('uploads') && call.method === 'GET') return this.listUploads(res);
    if (call.query.has('uploadId') && call.method === 'DELETE') {
      this.uploads.delete(call.query.get('uploadId') ?? '');
      return void res.writeHead(204).end();
    }
    if (call.method === 'GET' && call.key !== '') return this.download(req, res, fault);
    // One after the other: a list must not see a file that is half-written.
    this.last = this.last.then(() => this.forward(call, req, res, body));
    await this.last;
  }

  private async forward(call: Call, req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
    const answer = await this.ask(req, body);
    const bytes = await buffer(answer);
    const id = call.query.get('uploadId');
    if (call.query.has('uploads')) {
      const made = /<UploadId>([^<]+)</.exec(String(bytes))?.[1];
      if (made !== undefined) this.uploads.set(made, { key: call.key, initiated: this.now() });
    } else if (id !== null && call.method === 'POST') this.uploads.delete(id);
    res.writeHead(answer.statusCode ?? 500, plain(answer)).end(bytes);
  }

  private async download(req: IncomingMessage, res: ServerResponse, fault: Fault | null): Promise<void> {
    const answer = await this.ask(req, Buffer.alloc(0));
    this.downloads++;
    res.once('close', () => {
      this.downloads--;
      answer.destroy();
    });
    res.writeHead(answer.statusCode ?? 500, plain(answer));
    if (fault !== null && ('cutAnswer' in fault || 'alterAnswer' in fault)) {
      const bytes = await buffer(answer);
      if ('alterAnswer' in fault) return void res.end(alter(bytes));
      res.write(bytes.subarray(0, fault.cutAnswer), () => res.destroy());
    } else answer.pipe(res);
  }

  private async ask(req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { method, url: path } = req;
    // Its clock is the machine's. It compares no signature.
    const headers = { ...req.headers, 'x-amz-date': new Date().toISOString().replace(/[-:]|\.\d+/g, '') };
    const asked = request({ host: '127.0.0.1', port: this.behind.port, method, path, headers, agent: false });
    asked.end(body);
    return ((await once(asked, 'response')) as [IncomingMessage])[0];
  }

  private listUploads(res: ServerResponse): void {
    const uploads = [...this.uploads].map(
      ([id, { key, initiated }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${new Date(initiated).toISOString()}</Initiated></Upload>`,
    );
    const name = 'ListMultipartUploadsResult';
    res.setHeader('Content-Type', 'application/xml');
    res.end(`<?xml version="1.0"?><${name}><IsTruncated>false</IsTruncated>${uploads.join('')}</${name}>`);
  }

  private now(): number {
    return Date.now() + this.clock;
  }
}

const OBJECT = '._S3rver_object';

function refuse(res: ServerResponse, status: number, code: string): void {
  res.writeHead(status, { 'Content-Type': 'application/xml' });
  res.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}, on purpose.</Message></Error>`);
}

function alter(bytes: Buffer): Buffer {
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

/** Of the signature. */
function dateOf(req: IncomingMessage): number {
  const [, y, mo, d, h, mi, s] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(req.headers['x-amz-date'])) ?? [];
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
}

function plain({ headers }: IncomingMessage) {
  const { connection: _, 'transfer-encoding': __, date: ___, ...rest } = headers;
  return rest;
}
