// JSON-RPC 2.0 with an agent program, a message a line (reference §30).

/** The other side refuses what it was asked. */
export class PeerRefusedError extends Error {
  override readonly name = 'PeerRefusedError';
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

export interface PeerHandlers {
  /** Answers what the other side asks. What it throws becomes the error. */
  request(method: string, params: Record<string, unknown>): Promise<unknown>;
  notification(method: string, params: Record<string, unknown>): void;
  /** Sends a line to the other side, which has asked for it or not. */
  send(line: string, isAnswer: boolean): void;
}

interface Message {
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown } | null;
}
interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;

/** One side of the conversation: asks, answers, and is told. */
export class JsonRpcPeer {
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private over: Error | null = null;

  constructor(private readonly handlers: PeerHandlers) {}

  /** Rejects with {@link PeerRefusedError}, and with the error of {@link close}. */
  request<T>(method: string, params: object): Promise<T> {
    if (this.over !== null) return Promise.reject(this.over);
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  /** Nobody answers any more. */
  close(error: Error): void {
    this.over ??= error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  /** A line of the other side. What is no message is passed over: programs print warnings between them. Whether it was one. */
  read(line: string): boolean {
    if (!line.startsWith('{')) return false;
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return false;
    }
    const { id, method, params } = message;
    if (typeof method !== 'string') return this.settle(message);
    const about = typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {};
    if (id === undefined || id === null) this.handlers.notification(method, about);
    else void this.answer(id, method, about);
    return true;
  }

  private send(message: Message): void {
    if (this.over !== null) return;
    this.handlers.send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`, message.method === undefined);
  }

  private async answer(id: number | string, method: string, params: Record<string, unknown>): Promise<void> {
    try {
      const result = await this.handlers.request(method, params);
      this.send({ id, result: result ?? {} });
    } catch (error) {
      const code = error instanceof PeerRefusedError ? error.code : INTERNAL;
      this.send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  private settle({ id, result, error }: Message): boolean {
    const found = typeof id === 'number' ? this.waiting.get(id) : undefined;
    if (found === undefined || typeof id !== 'number') return false;
    this.waiting.delete(id);
    if (error == null) found.resolve(result);
    else {
      const code = typeof error.code === 'number' ? error.code : INTERNAL;
      const message = typeof error.message === 'string' ? error.message : 'It gave no reason.';
      found.reject(new PeerRefusedError(message, code));
    }
    return true;
  }
}

export function methodNotFound(method: string): PeerRefusedError {
  return new PeerRefusedError(`The method '${method}' is not offered here.`, METHOD_NOT_FOUND);
}
