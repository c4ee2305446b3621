// A real HTTP server that speaks the streaming protocols of the four kinds of provider, and says what a test tells it to.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const PROVIDER_KINDS = ['anthropic', 'openai', 'google', 'openai-compatible'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/**
 * One answer: a thought and its seal come first where the protocol has them. Arguments are JSON text, sent as it is; with `freeform`,
 * which OpenAI alone has, any text, sent in two pieces as the input of a custom tool.
 */
export interface ProviderAnswer {
  text?: string;
  calls?: { name: string; arguments: string; freeform?: true }[];
  /** Sends it in another way than it should: `events` are the whole answer, as they would be written. */
  send?: (response: ServerResponse, events: string[]) => void;
  /** The request is refused with 400, in these words. */
  refusal?: string;
}

type Json = Record<string, unknown>;
type Block = Json & { role?: string | undefined; cache_control?: unknown };

/** What one request asks, whatever the protocol: the pieces of its conversation as JSON text, without the marks of a cache. */
export interface ProviderRequest {
  kind: ProviderKind;
  /** The conversation without the system prompt, piece by piece: blocks where messages have some, else messages. */
  pieces: string[];
  /** The whole, as it was sent. */
  sent: string;
}

/** Answers each request with what `script` says, or holds it while the promise is open. */
export class ProviderServer {
  readonly requests: ProviderRequest[] = [];
  script: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer> = () => ({ text: 'Done.' });
  private count = 0;
  private constructor(private readonly server: Server) {}

  static async start(): Promise<ProviderServer> {
    const server = createServer();
    const started = new ProviderServer(server);
    server.on('request', (request, response) => {
      started.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const kind = kindOf(request.url ?? '');
    const sent = Buffer.concat(chunks).toString();
    const asked = { kind, sent, pieces: piecesOf(kind, JSON.parse(sent) as Json) };
    this.requests.push(asked);
    const answer = await this.script(asked);
    if (answer.refusal !== undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: answer.refusal } }),
      );
      return;
    }
    const events = EVENTS[kind](answer, ++this.count).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    if (answer.send !== undefined) {
      answer.send(response, events);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.join(''));
  }
}

function kindOf(url: string): ProviderKind {
  if (url.includes('/messages')) return 'anthropic';
  if (url.includes('/responses')) return 'openai';
  return url.includes('GenerateContent') ? 'google' : 'openai-compatible';
}

function piecesOf(kind: ProviderKind, body: Json): string[] {
  const messages = (body['input'] ?? body['contents'] ?? body['messages']) as (Json & { role?: string })[];
  const pieces = messages.flatMap((message): Block[] => {
    const blocks = (kind === 'google' ? message['parts'] : message['content']) as Block[] | string | undefined;
    if (kind === 'openai' || kind === 'openai-compatible' || !Array.isArray(blocks)) return [message];
    // The parts of messages that follow each other in one role are one message: a later request adds to it.
    return blocks.map((block) => ({ role: message.role, ...block }));
  });
  const said = pieces.filter(({ role }) => role !== 'system' && role !== 'developer');
  return said.map(({ cache_control: _mark, ...piece }) => JSON.stringify(piece));
}

const USAGE = { input_tokens: 30, output_tokens: 3 };

const EVENTS: Record<ProviderKind, (answer: ProviderAnswer, n: number) => unknown[]> = {
  anthropic: ({ text, calls = [] }, n) => {
    const message = { id: `m${n}`, type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null };
    const block = (index: number, start: Json, ...deltas: Json[]) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const thought = [
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature: `sealed ${n}` },
    ];
    const said = text === undefined ? [] : [{ type: 'text_delta', text }];
    return [
      { type: 'message_start', message: { ...message, usage: USAGE } },
      ...block(0, { type: 'thinking', thinking: '' }, ...thought),
      ...block(1, { type: 'text', text: '' }, ...said),
      ...calls.flatMap(({ name, arguments: args }, at) => {
        const start = { type: 'tool_use', id: `toolu_${n}_${at}`, name, input: {} };
        return block(at + 2, start, { type: 'input_json_delta', partial_json: args });
      }),
      {
        type: 'message_delta',
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
        usage: { output_tokens: 3 },
      },
      { type: 'message_stop' },
    ];
  },
  openai: ({ text, calls = [] }, n) => {
    const item = (output_index: number, added: Json, done: Json, ...between: Json[]) => [
      { type: 'response.output_item.added', output_index, item: added },
      ...between,
      { type: 'response.output_item.done', output_index, item: { ...added, ...done } },
    ];
    const message = { type: 'message', id: `msg_${n}` };
    const delta = { type: 'response.output_text.delta', item_id: message.id, delta: text };
    return [
      { type: 'response.created', response: { id: `r${n}`, created_at: 1, model: 'x' } },
      ...item(0, { type: 'reasoning', id: `rs_${n}`, summary: [] }, { encrypted_content: `sealed ${n}` }),
      ...(text === undefined ? [] : item(1, message, {}, delta)),
      ...calls.flatMap(({ name, arguments: args, freeform }, at) => {
        const call_id = `call_${n}_${at}`;
        if (freeform === true) {
          const custom = { type: 'custom_tool_call', id: `ctc_${n}_${at}`, call_id, name };
          const pieces = [args.slice(0, 20), args.slice(20)].map((delta) => {
            return { type: 'response.custom_tool_call_input.delta', item_id: custom.id, output_index: at + 2, delta };
          });
          return item(at + 2, { ...custom, input: '' }, { input: args, status: 'completed' }, ...pieces);
        }
        const call = { type: 'function_call', id: `fc_${n}_${at}`, call_id, name };
        return item(at + 2, { ...call, arguments: '' }, { arguments: args, status: 'completed' });
      }),
      { type: 'response.completed', response: { usage: USAGE } },
    ];
  },
  google: ({ text, calls = [] }, n) => {
    const thoughtSignature = `sealed ${n}`;
    const parts = [
      { text: 'Hm.', thought: true, thoughtSignature },
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, arguments: args }) => ({
        functionCall: { name, args: JSON.parse(args) as unknown },
        thoughtSignature,
      })),
    ];
    const usageMetadata = { promptTokenCount: 30, candidatesTokenCount: 3, totalTokenCount: 33 };
    return [
      { candidates: [{ content: { role: 'model', parts } }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }], usageMetadata },
    ];
  },
  'openai-compatible': ({ text, calls = [] }, n) => {
    const chunk = (delta: Json, finish_reason: string | null = null) => {
      return { id: `c${n}`, created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] };
    };
    const tool_calls = calls.map(({ name, arguments: args }, index) => {
      return { index, id: `call_${n}_${index}`, type: 'function', function: { name, arguments: args } };
    });
    return [
      chunk({ role: 'assistant', reasoning_content: 'Hm.' }),
      ...(text === undefined ? [] : [chunk({ content: text })]),
      ...(calls.length === 0 ? [] : [chunk({ tool_calls })]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ];
  },
};
