// The service as a server of MCP for clients that only start programs: each line is one message (reference §19, §29).
import { createInterface } from 'node:readline';
import { ConnectionError, Mcp, type McpMessage, MillwrightError } from '@millwright/sdk';
import { ownOptions } from './account.js';
import type { Verb } from './line.js';
import { plain } from './terminal.js';

const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;

export const mcp: Verb = {
  words: [],
  options: {},
  async run() {
    const bridge = new Bridge(new Mcp(ownOptions()));
    const sent = new Set<Promise<void>>();
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === '') continue;
      const taken = bridge.take(line).finally(() => sent.delete(taken));
      sent.add(taken);
    }
    // The client has closed its side: what it has asked for is still answered.
    await Promise.all(sent);
    return 0;
  },
};

/** Passes messages on, and answers back: nothing else goes to standard output. */
class Bridge {
  private readonly underWay = new Map<unknown, AbortController>();
  private revision: string | undefined;

  constructor(private readonly service: Mcp) {}

  async take(line: string): Promise<void> {
    const message = messageIn(line);
    if (message === null) return write({ jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: 'A line is one JSON object.' } }); // prettier-ignore
    if (message['method'] === 'notifications/cancelled') this.cancel(message);
    const { id } = message;
    const controller = new AbortController();
    if (id !== undefined) this.underWay.set(id, controller);
    try {
      const answer = await this.service.send(message, { signal: controller.signal, revision: this.revision });
      if (message['method'] === 'initialize') this.revision = revisionIn(answer);
      if (answer !== null) write(answer);
    } catch (error) {
      if (controller.signal.aborted) return;
      refuse(id, error);
    } finally {
      // A later message may have taken the id.
      if (this.underWay.get(id) === controller) this.underWay.delete(id);
    }
  }

  /** A client that leaves a call over HTTP closes its connection. */
  private cancel({ params }: McpMessage): void {
    this.underWay.get((params as { requestId?: unknown } | undefined)?.requestId)?.abort();
  }
}

function messageIn(line: string): McpMessage | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? (message as McpMessage) : null;
  } catch {
    return null;
  }
}

function revisionIn(answer: McpMessage | null): string | undefined {
  return (answer?.['result'] as { protocolVersion?: string } | undefined)?.protocolVersion;
}

/** The service refused the request, or was not reached. */
function refuse(id: unknown, error: unknown): void {
  if (!(error instanceof MillwrightError) && !(error instanceof ConnectionError)) throw error;
  console.error(plain(error.message));
  if (id === undefined) return;
  const data = error instanceof MillwrightError ? { data: { status: error.status, code: error.code } } : {};
  write({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: error.message, ...data } });
}

function write(message: McpMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
