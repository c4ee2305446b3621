// A real HTTP server that speaks OpenAI's streaming chat completions, and says what a test tells it to.
import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface ScriptedCall {
  name: string;
  /** An object is sent as JSON, a string as it is. */
  arguments: unknown;
  id?: string;
}

/** One answer. Everything is optional; an empty one is an empty answer. */
export interface Answer {
  text?: string;
  reasoning?: string;
  calls?: ScriptedCall[];
  /** Null: the answer is over without a reason and without the line that ends it. */
  finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter' | null;
  usage?: { input: number; output: number; cached?: number; reasoning?: number };
  /** Milliseconds before the first byte. */
  firstByteMs?: number;
  /** Milliseconds between two chunks. */
  chunkMs?: number;
  /** Never answers: the request stays open until the client or `stop` ends it. */
  hang?: boolean;
  /** Sends the headers and half of the chunks, then nothing more. */
  stall?: boolean;
  /** Cuts the connection after half of the chunks. */
  breakOff?: boolean;
  /** Sends a line that is no JSON in between. */
  brokenJson?: boolean;
  /** An HTTP error instead of an answer. */
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  reasoning_content?: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  reasoning_effort?: string;
}

/**
 * What the server answers to a request: from the n-th answer of a conversation that it can see in it. A function must
 * not count for itself, because several conversations may run at once: {@link stepOf} counts in the request.
 */
export type Script = (request: ChatRequest, attempt: number) => Answer | Promise<Answer>;

export class ModelServer {
  /** Every request, in the order of arrival. `body` is without what the service tells of the surroundings, `sent` is the whole. */
  readonly requests: {
    body: ChatRequest;
    surroundings: string | null;
    sent: string;
    authorization: string | undefined;
    at: number;
  }[] = [];
  private readonly attempts = new Map<string, number>();
  private readonly stopping = new AbortController();
  private constructor(
    private readonly server: Server,
    public script: Script,
  ) {}

  static async start(script: Script = byMarkers): Promise<ModelServer> {
    const server = createServer();
    const started = new ModelServer(server, script);
    // One listener for each answer that waits, however many.
    setMaxListeners(0, started.stopping.signal);
    server.on('request', (request, response) => {
      // A client that went away, or a script that threw: the connection shows it.
      started.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return started;
  }

  /** Base URL, for `OPENAI_COMPATIBLE_URL`. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Requests whose answer is not over and whose client has not gone. */
  openRequests = 0;

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.openRequests += 1;
    response.once('close', () => (this.openRequests -= 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks).toString();
    const { body, surroundings } = withoutSurroundings(JSON.parse(sent) as ChatRequest);
    const { authorization } = request.headers;
    this.requests.push({ body, surroundings, sent, authorization, at: performance.now() });
    const key = JSON.stringify(body.messages);
    const attempt = (this.attempts.get(key) ?? 0) + 1;
    this.attempts.set(key, attempt);
    const answer = await this.script(body, attempt);
    if (answer.firstByteMs !== undefined) await this.wait(answer.firstByteMs);
    if (answer.hang === true) return;
    if (answer.status !== undefined) {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(
        answer.body ?? JSON.stringify({ error: { message: `Scripted ${answer.status}`, type: 'scripted' } }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await this.stream(response, answer, chunksOf(body.model, answer));
  }

  private async stream(response: ServerResponse, answer: Answer, chunks: string[]): Promise<void> {
    const partial = answer.stall === true || answer.breakOff === true;
    const sent = partial ? chunks.slice(0, Math.ceil(chunks.length / 2)) : chunks;
    if (answer.chunkMs === undefined) response.write(sent.join(''));
    else {
      for (const chunk of sent) {
        if (response.destroyed) return;
        response.write(chunk);
        await this.wait(answer.chunkMs);
      }
    }
    if (answer.stall === true) return;
    // After a moment, so that what was written arrives before the cut.
    if (answer.breakOff === true) await this.wait(20);
    if (answer.breakOff === true) response.destroy();
    else response.end(answer.finish === null ? '' : 'data: [DONE]\n\n');
  }

  private async wait(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopping.signal });
  }
}

/** Most tests are about what was said, and a script about what a user wrote. */
function withoutSurroundings(body: ChatRequest): { body: ChatRequest; surroundings: string | null } {
  const { role, content } = body.messages[1] ?? {};
  const [first, ...rest] = Array.isArray(content) ? (content as { text?: string }[]) : [];
  if (role !== 'user' || first?.text?.startsWith('<surroundings>') !== true) return { body, surroundings: null };
  // As a provider writes a message that has one part.
  const alone = rest.length === 1 ? rest[0]?.text : undefined;
  const messages = body.messages.with(1, { role, content: alone ?? rest });
  return { body: { ...body, messages }, surroundings: first.text };
}

/** How many answers of the model stand after the last message of the user: the number of the step, from 0. */
export function stepOf(request: ChatRequest): number {
  const last = request.messages.findLastIndex((message) => message.role === 'user');
  return request.messages.slice(last + 1).filter((message) => message.role === 'assistant').length;
}

/** Text of the last message of the user. */
export function userText(request: ChatRequest): string {
  const content = request.messages.findLast((message) => message.role === 'user')?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? '').join('\n');
}

/** A script from a list: the n-th answer for the n-th step. */
export function steps(...answers: Answer[]): Script {
  return (request) => answers[stepOf(request)] ?? { text: 'Done.' };
}

/**
 * For tests that only have the text of a message. The user's text holds `SCRIPT [answer, …]`: JSON of {@link Answer}s, one
 * a step, or for `times` steps. Failing answers come first, `times` tries each, at the step before which they stand.
 * Without a marker the answer is `Done.` Tries are counted per conversation: give each task a text of its own.
 */
export function byMarkers(request: ChatRequest, attempt: number): Answer {
  const json = /SCRIPT\s+(\[[\s\S]*\])/.exec(userText(request))?.[1];
  if (json === undefined) return { text: 'Done.' };
  let step = stepOf(request);
  let tries = attempt - 1;
  for (const answer of JSON.parse(json) as (Answer & { times?: number })[]) {
    const { times = 1 } = answer;
    if (answer.status === undefined && answer.breakOff !== true && answer.brokenJson !== true) {
      if (step < times) return answer;
      step -= times;
    } else if (step === 0) {
      if (tries < times) return answer;
      tries -= times;
    }
  }
  return { text: 'Done.' };
}

function chunksOf(model: string, answer: Answer): string[] {
  const base = { id: 'chat', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (value: unknown) => event({ ...base, choices: [{ index: 0, delta: value, finish_reason: null }] });
  const chunks = [delta({ role: 'assistant' })];
  for (const piece of piecesOf(answer.reasoning)) chunks.push(delta({ reasoning_content: piece }));
  for (const piece of piecesOf(answer.text)) chunks.push(delta({ content: piece }));
  (answer.calls ?? []).forEach((call, index) => {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const head = { index, id: call.id ?? `call_${Math.random().toString(36).slice(2)}`, type: 'function' };
    chunks.push(delta({ tool_calls: [{ ...head, function: { name: call.name, arguments: '' } }] }));
    for (const piece of piecesOf(text)) chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
  });
  if (answer.brokenJson === true) chunks.push('data: {"choices": [{"delta": nonsense\n\n');
  const finish = answer.finish === undefined ? (answer.calls === undefined ? 'stop' : 'tool_calls') : answer.finish;
  if (finish !== null) chunks.push(event({ ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
  const { input = 100, output = 10, cached = 0, reasoning = 0 } = answer.usage ?? {};
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  chunks.push(event({ ...base, choices: [], usage }));
  return chunks;
}

function piecesOf(text: string | undefined): string[] {
  return text?.match(/[\s\S]{1,24}/g) ?? [];
}
