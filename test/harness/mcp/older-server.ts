import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { listening, stopServer } from './listen.js';

interface Message {
  id?: number | string;
  method?: string;
  params?: { name?: string; capabilities?: object; protocolVersion?: string };
  error?: { code: number };
}

/** An MCP server over streamable HTTP of an older revision, for tests: with a session, and answers as events or as JSON. */
export class OlderMcpServer {
  readonly took: (Message & { headers: IncomingHttpHeaders })[] = [];
  /** Sessions that the client has ended. */
  readonly ended: string[] = [];
  /** Waits for the answer to what a call has asked of the client. */
  private answered: (() => void) | null = null;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(revision: string, form: 'events' | 'json'): Promise<OlderMcpServer> {
    const session = `session-of-${revision}`;
    const server = createServer((req, res) => {
      const refuse = (status: number) => void res.writeHead(status).end();
      if (req.method === 'DELETE') {
        made.ended.push(String(req.headers['mcp-session-id']));
        return refuse(200);
      }
      if (req.method !== 'POST') return refuse(405);
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
        made.took.push({ ...message, headers: req.headers });
        const { id, method, params } = message;
        const isGreeting = method === 'initialize';
        if (!isGreeting && req.headers['mcp-session-id'] !== session) return refuse(400);
        if (method === undefined) {
          made.answered?.();
          return refuse(202);
        }
        if (id === undefined) return refuse(202);
        const type = form === 'json' ? 'application/json' : 'text/event-stream';
        res.writeHead(200, { 'content-type': type, ...(isGreeting && { 'mcp-session-id': session }) });
        const write = (one: object, last = true) => {
          const text = JSON.stringify({ jsonrpc: '2.0', ...one });
          if (form === 'json') return void res.end(text);
          res.write(`: a comment\nevent: message\nid: ${made.took.length}\ndata: ${text}\n\n`);
          if (last) res.end();
        };
        const say = (result: object) => write({ id, error: null, result });
        switch (method) {
          case 'initialize':
            return say({ protocolVersion: revision, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1' } }); // prettier-ignore
          case 'tools/list':
            return say({
              tools: ['get_page', 'ask_person'].map((name) => ({ name, inputSchema: { type: 'object' } })),
            });
          case 'tools/call': {
            if (params?.name !== 'ask_person' || form === 'json') {
              return say({ content: [{ type: 'text', text: `called ${params?.name}` }] });
            }
            made.answered = () => say({ content: [{ type: 'text', text: 'nobody answered' }], isError: true });
            return write({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, false);
          }
          default:
            return write({ id, error: { code: -32601, message: 'Method not found' } });
        }
      });
    });
    const made = new OlderMcpServer(server, await listening(server));
    return made;
  }

  stop(): Promise<void> {
    return stopServer(this.server);
  }
}
