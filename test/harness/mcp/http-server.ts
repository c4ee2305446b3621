import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listening, stopServer } from './listen.js';

interface Other {
  status?: number;
  headers?: Record<string, string>;
  result?: object;
  /** An error of the protocol. */
  error?: object;
  hang?: boolean;
}

/** An MCP server over HTTP of the newer revision, for tests: it notes what it is asked. */
export class McpHttpServer {
  readonly calls: { name: string; arguments: unknown; headers: IncomingMessage['headers'] }[] = [];
  /** What it answers in place of a result. */
  answer: ((name: string) => Other | null) | null = null;
  /** What it answers in place of its list. */
  listed: Other | null = null;
  /** How often it was asked for its list. */
  lists = 0;
  /** It is of an older revision, with this session. */
  session: string | null = null;
  /** Calls that have no answer yet, and how many of them there were at once. */
  open = 0;
  most = 0;
  /** Whether it says that its list may change. */
  changes = false;
  /** Who listens for that, by the id of their request. */
  readonly listeners = new Map<unknown, ServerResponse>();
  /** Requests to end the session, which are never answered. */
  deleted = 0;
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(tools: object[]): Promise<McpHttpServer> {
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        if (req.method === 'DELETE') return void (made.deleted += 1);
        if (req.method !== 'POST') return void res.writeHead(405).end();
        const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
          id?: number;
          method: string;
          params: { name: string; arguments: unknown };
        };
        const json = (body: object, headers: Record<string, string> = {}) => {
          res.writeHead(200, { 'content-type': 'application/json', ...headers });
          res.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
        };
        const say = (result: object) => json({ result });
        const other = ({ hang, status, headers, error, result }: Other) => {
          if (hang === true) return;
          if (status !== undefined) return void res.writeHead(status, headers).end();
          json(error === undefined ? { result } : { error });
        };
        const complete = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' };
        switch (method) {
          case 'server/discover':
            if (made.session !== null) return json({ error: { code: -32601, message: 'Method not found' } });
            return say({
              ...complete,
              supportedVersions: ['2026-07-28'],
              capabilities: { tools: made.changes ? { listChanged: true } : {} },
            });
          case 'initialize': {
            const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'test' } };
            return json({ result }, { 'mcp-session-id': made.session ?? '' });
          }
          case 'tools/list':
            made.lists += 1;
            return made.listed === null ? say({ ...complete, tools }) : other(made.listed);
          case 'subscriptions/listen':
            made.listeners.set(id, res);
            res.on('close', () => made.listeners.delete(id));
            res.writeHead(200, { 'content-type': 'text/event-stream' });
            return made.tell(id, 'subscriptions/acknowledged', { notifications: { toolsListChanged: true } });
          case 'tools/call': {
            made.open += 1;
            made.most = Math.max(made.most, made.open);
            res.on('close', () => (made.open -= 1));
            made.calls.push({ name: params.name, arguments: params.arguments, headers: req.headers });
            const usual = { resultType: 'complete', content: [{ type: 'text', text: `called ${params.name}` }] };
            return other(made.answer?.(params.name) ?? { result: usual });
          }
          default:
            res.writeHead(202).end();
        }
      });
    });
    const made = new McpHttpServer(server, await listening(server));
    return made;
  }

  /** Tells all who listen that its list is another one. */
  change(): void {
    for (const id of this.listeners.keys()) this.tell(id, 'tools/list_changed');
  }

  private tell(id: unknown, what: string, params: object = {}): void {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const message = { jsonrpc: '2.0', method: `notifications/${what}`, params: { ...params, _meta } };
    this.listeners.get(id)?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  stop(): Promise<void> {
    return stopServer(this.server);
  }
}
