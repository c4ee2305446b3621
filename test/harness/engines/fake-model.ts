// A real HTTP server that speaks the three wires of engines, streaming, and says what a test tells it to.
import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArguments } from '../../../src/engine/agent/tool-registry.js';
import type { Wire, WireMessage, WireName } from '../../../src/engine/engines/wires/wire.js';
import { WIRES } from '../../../src/engine/engines/wires/wires.js';
import { sorted } from '../../../src/engine/models/result-text.js';
import { argumentsOf, chatStream, messagesStream, responsesStream } from './fake-streams.js';

export interface FakeCall {
  name: string;
  /** An object is sent as JSON, a string as it is. */
  arguments: unknown;
  /** Made by the server where it is absent. */
  id?: string;
  /** In `openai-responses`: a call as plain text (`custom_tool_call`). */
  plain?: boolean;
  /** In `openai-responses`: of the tool. */
  namespace?: string;
  /** In `openai-responses`: the item itself, of a call that is neither a function's nor plain text. */
  item?: Record<string, unknown>;
}

/** One answer. Everything is optional; an empty one says nothing. */
export interface FakeAnswer {
  text?: string;
  reasoning?: string;
  calls?: FakeCall[];
  finish?: 'length' | 'content_filter';
  /** Tokens; `input` with `cached`, `output` with `reasoning`. */
  usage?: { input?: number; output?: number; cached?: number; reasoning?: number };
  /** An HTTP error in place of an answer. */
  status?: number;
  headers?: Record<string, string>;
  /** Of the error. */
  message?: string;
  /** Never answers. */
  hang?: boolean;
  /** Sends half of the pieces, then nothing more. */
  stall?: boolean;
  /** Cuts the connection after half of the pieces. */
  breakOff?: boolean;
  /** Milliseconds between two pieces. */
  pieceMs?: number;
}

export interface FakeRequest {
  wire: WireName;
  body: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  /** The same for all wires. */
  messages: WireMessage[];
  /** Names of the functions offered. */
  tools: string[];
  /** From 1: how often this very conversation has been sent. */
  attempt: number;
  /** Milliseconds, as `performance.now()`. */
  at: number;
}

export type FakeScript = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

export class FakeModel {
  /** In the order of arrival. */
  readonly requests: FakeRequest[] = [];
  /** Asked for whatever is none of the wires, such as `HEAD /`. */
  readonly others: string[] = [];
  private readonly attempts = new Map<string, number>();
  private readonly stopping = new AbortController();

  private constructor(
    private readonly server: Server,
    public script: FakeScript,
  ) {}

  static async start(script: FakeScript = byScript): Promise<FakeModel> {
    const server = createServer();
    const model = new FakeModel(server, script);
    server.on('request', (request, response) => {
      // A client that went away, or a script that threw: the connection shows it.
      model.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return model;
  }

  /** Without `/v1`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A model's `baseUrl`. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  /** Requests that offer tools: the steps of a task. */
  get steps(): FakeRequest[] {
    return this.requests.filter(({ tools }) => tools.length > 0);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path] = (request.url ?? '').split('?');
    const wire = Object.values(WIRES).find((one) => one.path === path);
    if (wire === undefined || request.method !== 'POST') {
      this.others.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const { messages, tools, streams } = wire.read(body);
    const key = JSON.stringify([body['messages'], body['input'], tools]);
    const attempt = (this.attempts.get(key) ?? 0) + 1;
    this.attempts.set(key, attempt);
    const { headers } = request;
    const asked: FakeRequest = { wire: wire.name, body, headers, messages, tools, attempt, at: performance.now() };
    this.requests.push(asked);
    const answer = await this.script(asked);
    if (answer.hang === true) return;
    if (answer.status !== undefined) {
      const error = { type: 'scripted', message: answer.message ?? `Scripted ${answer.status}` };
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify({ type: 'error', error }));
      return;
    }
    const pieces = piecesOf(asked, withIds(answer));
    if (streams) await this.send(response, pieces, answer);
    else sendWhole(response, wire, body, pieces);
  }

  private async send(response: ServerResponse, pieces: string[], answer: FakeAnswer): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const isCut = answer.stall === true || answer.breakOff === true;
    const sent = isCut ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces;
    if (answer.pieceMs === undefined) response.write(sent.join(''));
    for (const piece of answer.pieceMs === undefined ? [] : sent) {
      if (response.destroyed) return;
      response.write(piece);
      await wait(answer.pieceMs, undefined, { signal: this.stopping.signal });
    }
    if (answer.stall === true) return;
    if (answer.breakOff !== true) {
      response.end();
      return;
    }
    // After a moment, so that what was written arrives before the cut.
    await wait(20);
    response.destroy();
  }
}

/** The same answer in one piece. */
function sendWhole(response: ServerResponse, wire: Wire, body: unknown, pieces: string[]): void {
  const reader = wire.answer('text/event-stream');
  reader.add(Buffer.from(pieces.join('')));
  const { contentType, body: said } = wire.say(wire.read(body), reader.end());
  response.writeHead(200, { 'content-type': contentType }).end(said);
}

function withIds(answer: FakeAnswer): FakeAnswer {
  const calls = answer.calls?.map((call) => ({ id: `call_${randomUUID().slice(0, 8)}`, ...call }));
  return calls === undefined ? answer : { ...answer, calls };
}

function piecesOf({ wire, body }: FakeRequest, answer: FakeAnswer): string[] {
  const model = String(body['model']);
  switch (wire) {
    case 'openai-chat': {
      const options = body['stream_options'] as { include_usage?: boolean } | undefined;
      return chatStream(model, answer, options?.include_usage === true);
    }
    case 'openai-responses':
      return responsesStream(model, answer);
    case 'anthropic-messages':
      return messagesStream(model, answer);
  }
}

/** How many answers of a script stand behind the message that has it: what the program tells of them, and what it has forgotten. */
function stepAfter({ messages }: FakeRequest, from: number, answers: FakeAnswer[]): number {
  const behind = messages.slice(from + 1);
  const made = behind.flatMap(({ role, calls }) => (role === 'assistant' && calls.length > 0 ? [calls] : []));
  const told = new Set(made.flat().map(({ name, input }) => keyOf(name, input)));
  const gone = new Set(behind.flatMap(({ role, text }) => (role === 'user' ? interruptedIn(text) : [])));
  const isForgotten = (call: FakeCall) => {
    const key = keyOf(call.name, argumentsOf(call));
    return gone.has(key) && !told.has(key);
  };
  return made.length + answers.filter(({ calls = [] }) => calls.some(isForgotten)).length;
}

/** Calls of which a prompt says that they were interrupted: a program that was killed may not know that its model has made them. */
function interruptedIn(text: string): string[] {
  const found = text.matchAll(/^You wanted to call (\S+) with (.*)\nThis was interrupted\b/gm);
  return [...found].map(([, name = '', input = '']) => keyOf(name, input));
}

/** The same for the same arguments in another order: that on record is another. */
function keyOf(name: string, input: string): string {
  return `${name} ${JSON.stringify(sorted(parseArguments(input)))}`;
}

/**
 * For tests that have the text of a message alone. The last message of a user's that has `SCRIPT [answer, …]` says by a JSON list of
 * {@link FakeAnswer}s what is answered: one a step, an answer without calls ends the turn. Failing ones come at the tries before their step.
 * Without a marker, behind the list's end, and in a call without tools the answer is `Done.` What a prompt names as interrupted is not said again.
 */
export function byScript(request: FakeRequest): FakeAnswer {
  const { messages, tools, attempt } = request;
  const from = messages.findLastIndex(({ role, text }) => role === 'user' && /SCRIPT\s+\[/.test(text));
  if (from < 0 || tools.length === 0) return { text: 'Done.' };
  const answers = scriptIn(messages[from]?.text ?? '');
  let step = stepAfter(request, from, answers);
  let tries = attempt - 1;
  for (const answer of answers) {
    if (answer.status === undefined && answer.breakOff !== true && answer.stall !== true) {
      if (step === 0) return answer;
      step -= 1;
    } else if (step === 0) {
      if (tries === 0) return answer;
      tries -= 1;
    }
  }
  return { text: 'Done.' };
}

/** The list after the marker, up to the bracket that closes it: programs put words of their own behind. */
function scriptIn(text: string): FakeAnswer[] {
  const [, begun = ''] = /SCRIPT\s+(\[[\s\S]*)/.exec(text) ?? [];
  for (let end = begun.lastIndexOf(']'); end > 0; end = begun.lastIndexOf(']', end - 1)) {
    try {
      return JSON.parse(begun.slice(0, end + 1)) as FakeAnswer[];
    } catch {
      continue;
    }
  }
  throw new Error(`SCRIPT is followed by no JSON list: ${begun.slice(0, 200)}`);
}
