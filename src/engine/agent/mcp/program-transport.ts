import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { McpProgram } from '../../../platform/config/mcp-servers.js';
import { ProgramLines } from '../../sandbox/program-lines.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import { shellQuote } from '../tools/tool-text.js';

/** Speaks with a program in the sandbox: one message a line, each way. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly lines: ProgramLines;
  /** Messages in a row that are of no use. */
  private unheard = 0;
  /** What we ask, as far as it is not answered. */
  private readonly asked = new Set<unknown>();
  /** Bytes of answers that the program has not read: it may ask without an end. What we ask is bounded by the calls of a task. */
  private unread = 0;

  constructor(
    session: SandboxSession,
    private readonly server: McpProgram,
  ) {
    this.lines = new ProgramLines(session, { line: (text) => this.read(text), over: () => this.onclose?.() });
  }

  async start(): Promise<void> {
    const { command, args, env, network, memoryBytes } = this.server;
    // Nothing of it is for a shell: it takes the place of the one that starts it.
    const words = ['exec', ...[command, ...args].map(shellQuote)].join(' ');
    await this.lines.start(words, { env, network, program: { memoryBytes } });
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!this.lines.writable) return Promise.reject(new Error('The program has ended.'));
    const line = `${JSON.stringify(message)}\n`;
    if ('method' in message) {
      if ('id' in message) this.asked.add(message.id);
      this.lines.write(line);
      return Promise.resolve();
    }
    const bytes = Buffer.byteLength(line);
    this.unread += bytes;
    if (this.unread > MOST_UNREAD) this.lines.refuse('It reads too little of what it is answered, and was ended.');
    else this.lines.write(line, () => (this.unread -= bytes));
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.lines.close();
  }

  /** What is no message is passed over: programs print warnings between them. */
  private read(text: string): void {
    if (!text.startsWith('{')) return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(text) as JSONRPCMessage;
    } catch {
      return;
    }
    const { id, method } = message as { id?: unknown; method?: unknown };
    if (typeof method === 'string' ? method === PROGRESS : this.asked.delete(id)) this.unheard = 0;
    else if (++this.unheard > MOST_UNHEARD) return this.lines.refuse('It wrote without an end, and was ended.');
    if (typeof method === 'string' && id === undefined && !HEARD.includes(method)) return;
    this.onmessage?.(message);
  }
}

/** What a server tells by itself and is of use. */
const PROGRESS = 'notifications/progress';
const HEARD = [PROGRESS, 'notifications/tools/list_changed', 'notifications/subscriptions/acknowledged'];
const MOST_UNHEARD = 20_000;
const MOST_UNREAD = 1024 ** 2;
