import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ACP_PROGRAM = fileURLToPath(new URL('acp-program.mjs', import.meta.url));

type Json = Record<string, unknown>;

/** A client of one agent program, outside any sandbox: what it writes is kept, its questions are answered with the first option. */
export class AcpClient {
  /** Updates, in the order in which they came. */
  readonly updates: Json[] = [];
  /** Lines that are no message. */
  readonly garbage: string[] = [];
  readonly questions: string[] = [];
  readonly ended: Promise<number | null>;
  private readonly open = new Map<unknown, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  private readonly child: ChildProcessWithoutNullStreams;
  private lastId = 0;

  constructor(command: readonly string[], { env, cwd }: { env: Record<string, string>; cwd: string }) {
    const [program = '', ...rest] = command;
    this.child = spawn(program, rest, { env: { PATH: process.env['PATH'], ...env }, cwd });
    this.ended = new Promise((done) => this.child.once('close', done));
    // It may be gone.
    this.child.stdin.on('error', () => undefined);
    createInterface({ input: this.child.stdout }).on('line', (line) => this.take(line));
    void this.ended.then((code) => {
      for (const { reject } of this.open.values()) reject(new Error(`The program has ended with ${code}.`));
    });
  }

  call(method: string, params: Json): Promise<Json> {
    const id = ++this.lastId;
    this.write({ id, method, params });
    return new Promise((resolve, reject) => this.open.set(id, { resolve, reject }));
  }

  /** Greets the program and begins a session, whose id it answers with. */
  async begin(cwd: string, mcpServers: Json[] = []): Promise<string> {
    await this.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await this.call('session/new', { cwd, mcpServers });
    return sessionId as string;
  }

  prompt(sessionId: string, text: string): Promise<Json> {
    return this.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  write(message: Json): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async end(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private take(line: string): void {
    let message: Json;
    try {
      message = JSON.parse(line) as Json;
    } catch {
      this.garbage.push(line);
      return;
    }
    const { id, method, params, result, error } = message as { params?: { update?: Json; options?: Json[] } } & Json;
    if (method === 'session/update' && params?.update !== undefined) this.updates.push(params.update);
    else if (method !== undefined) {
      this.questions.push(method as string);
      this.write({ id, result: { outcome: { outcome: 'selected', optionId: params?.options?.[0]?.['optionId'] } } });
    } else if (this.open.has(id)) {
      const open = this.open.get(id);
      this.open.delete(id);
      if (error === undefined) open?.resolve(result as Json);
      else open?.reject(new Error((error as { message: string }).message));
    } else this.garbage.push(line);
  }
}
