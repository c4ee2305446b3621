import { MillwrightError } from './errors.js';
import { broken, type CallOptions, type ClientOptions, Transport } from './transport.js';

/** A message of the Model Context Protocol: JSON-RPC 2.0. */
export type McpMessage = Record<string, unknown>;

/** Milliseconds that a tool may wait for a task beside the time of an answer. */
const WAIT_MS = 50_000;
/** A call with one of these may be made twice. */
const READS = /^(get|list|read)_|^cancel_task$/;
const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The service as a server of MCP (reference §29): for programs that pass messages on. By itself: pages that use the client do without. */
export class Mcp {
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    this.#transport = new Transport(options);
  }

  /**
   * Sends a message and resolves with the answer, also where that is an error of the protocol; null for a notification.
   * @param options `revision`: the one that `initialize` has agreed on.
   */
  async send(
    message: McpMessage,
    options: CallOptions & { revision?: string | undefined } = {},
  ): Promise<McpMessage | null> {
    return this.#transport.read(
      {
        method: 'POST',
        path: '/mcp',
        body: message,
        headers: headersOf(message, options.revision),
        repeatable: isRepeatable(message),
        moreTime: WAIT_MS,
        signal: options.signal,
      },
      async (response, signal) => {
        const text = await response.text().catch(() => broken(signal));
        if (response.status === 202) return null;
        const answer = parsed(text);
        if (objectOf(answer)['jsonrpc'] === '2.0') return answer as McpMessage;
        throw new MillwrightError(response.status, answer, response.headers);
      },
    );
  }
}

/** What the newer revision says in headers too. */
function headersOf(message: McpMessage, revision: string | undefined): Record<string, string> {
  const params = objectOf(message['params']);
  const version = objectOf(params['_meta'])[VERSION];
  if (typeof version !== 'string') return revision === undefined ? {} : { 'mcp-protocol-version': revision };
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const named = typeof name === 'string' ? { 'mcp-name': visible(name) } : {};
  return { 'mcp-protocol-version': version, 'mcp-method': visible(String(message['method'])), ...named };
}

/** A text as the value of a header. */
function visible(text: string): string {
  if (/^[!-~]*$/.test(text) && !text.startsWith('=?')) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

function isRepeatable(message: McpMessage): boolean {
  const { name, arguments: given } = objectOf(message['params']);
  if (message['method'] === 'tasks/update') return false;
  if (message['method'] !== 'tools/call') return true;
  return READS.test(String(name)) || typeof objectOf(given)['idempotencyKey'] === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
