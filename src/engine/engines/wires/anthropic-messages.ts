// Anthropic's messages.
import { newId } from './own-ids.js';
import { AnthropicGatherer, callIn } from './anthropic-messages-answer.js';
import { streamOf } from './event-stream.js';
import { type Fields, fields, isFields, list, parsed, text } from './fields.js';
import { Gathering } from './gathering.js';
import { isAllowed, type Offered, stays, textOf, withTools } from './offered.js';
import { claudeEffort } from '../../models/ai-sdk/provider-options.js';
import {
  BadWireRequest,
  endOf,
  type Forwarding,
  JSON_TYPE,
  NO_USAGE,
  type Said,
  STREAM_TYPE,
  type Wire,
  type WireCall,
  type WireMessage,
  type WireRequest,
  type WireResult,
} from './wire.js';

/** Servers that the provider calls, and a container in which it runs skills. */
const RUN_BY_PROVIDER = ['mcp_servers', 'container'];
/** Tools that Anthropic describes and the program carries out. */
const OWN_TOOLS = /^(custom|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+)$/;

export const anthropicMessages: Wire = {
  name: 'anthropic-messages',
  path: '/v1/messages',
  headers: ['anthropic-beta', 'anthropic-version'],
  read,
  forward,
  answer: (contentType) => new Gathering(contentType, new AnthropicGatherer()),
  say,
  error,
};

function read(body: unknown, hide: readonly string[] = []): WireRequest {
  if (!isFields(body)) throw new BadWireRequest('The body must be a JSON object.');
  if (!Array.isArray(body['messages'])) throw new BadWireRequest("'messages' must be a list.");
  const own = list(body['tools'])
    .map(offered)
    .filter((tool) => stays(tool, { hide, providerTools: [] }));
  const system = textOf(body['system']);
  const messages = list(body['messages']).flatMap(messagesOf);
  return {
    body,
    streams: body['stream'] === true,
    tools: [...new Set(own.map(({ name }) => name))],
    messages: system === '' ? messages : [{ role: 'system', text: system, calls: [], results: [] }, ...messages],
    results: messages.flatMap(({ results }) => results),
  };
}

function offered(tool: Fields): Offered {
  const type = text(tool['type']) || 'custom';
  return { name: text(tool['name']) || type, providerType: OWN_TOOLS.test(type) ? null : type };
}

/** Results come in a message of the user's, before what the user says. */
function messagesOf({ role, content }: Fields): WireMessage[] {
  const blocks = list(content);
  const said = textOf(content);
  if (role === 'assistant') {
    const calls = blocks.map(callIn).filter((call): call is WireCall => call !== null);
    return [{ role, text: said, calls, results: [] }];
  }
  const results = blocks.filter((block) => block['type'] === 'tool_result').map(resultOf);
  const tool: WireMessage = { role: 'tool', text: '', calls: [], results };
  const user: WireMessage = { role: role === 'system' ? role : 'user', text: said, calls: [], results: [] };
  if (results.length === 0) return [user];
  return said === '' ? [tool] : [tool, user];
}

function resultOf({ tool_use_id: id, content, is_error: isError }: Fields): WireResult {
  return { toolCallId: text(id), text: textOf(content), isError: isError === true };
}

function forward({ body }: WireRequest, about: Forwarding): Fields {
  const tools = list(body['tools']).filter((tool) => stays(offered(tool), about));
  const names = tools.map((tool) => offered(tool).name);
  const isLeft = (given: Fields) => given['type'] !== 'tool' || names.includes(text(given['name']));
  const forwarded = withTools(body, tools, names, (given) => (isLeft(given) ? given : { type: 'auto' }));
  const left = Object.entries(forwarded).filter(([name]) => {
    // The second would choose other models than the one of the task.
    return name !== 'fallbacks' && (!RUN_BY_PROVIDER.includes(name) || isAllowed(name, about.providerTools));
  });
  return { ...Object.fromEntries(left), model: about.model, ...effortFor(body, about) };
}

/** A budget of thinking tokens is for a program that lets the model think, and less than the whole answer. */
function effortFor(body: Fields, { model, effort }: Forwarding): Fields {
  if (effort === null) return {};
  const { effort: named, thinkingTokens = 0 } = claudeEffort(model, effort);
  const thinks = ['enabled', 'adaptive'].includes(text(fields(body['thinking'])['type']));
  const fits = thinkingTokens > 0 && thinkingTokens < Number(body['max_tokens']);
  return {
    ...(named === undefined ? {} : { output_config: { ...fields(body['output_config']), effort: named } }),
    ...(thinks && fits ? { thinking: { type: 'enabled', budget_tokens: thinkingTokens } } : {}),
  };
}

const STOPS = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' };

function say({ body, streams }: WireRequest, said: Said) {
  const content = blocksSaid(said);
  const stop_reason = STOPS[endOf(said)];
  const message = { id: newId('msg'), type: 'message', role: 'assistant', model: text(body['model']) };
  const { output_tokens, ...input } = usageSaid(said);
  if (!streams) {
    const usage = { ...input, output_tokens };
    return {
      contentType: JSON_TYPE,
      body: JSON.stringify({ ...message, content, stop_reason, stop_sequence: null, usage }),
    };
  }
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...input, output_tokens: 0 },
  };
  const events: Fields[] = [
    { type: 'message_start', message: begun },
    ...content.flatMap((block, index) => eventsOf(block, index, said)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: 'message_stop' },
  ];
  return { contentType: STREAM_TYPE, body: streamOf(events, true) };
}

const THINKING = ['thinking', 'redacted_thinking'];

function blocksSaid({ text: words, reasoning, calls, own = [] }: Said): Fields[] {
  const again = own.filter((block) => {
    if (block['type'] === 'text') return words !== undefined;
    return THINKING.includes(text(block['type'])) ? reasoning !== undefined : block['type'] !== 'tool_use';
  });
  const called = calls.map((call) => {
    const written = own.find((block) => block['type'] === 'tool_use' && block['id'] === call.toolCallId);
    return written ?? { type: 'tool_use', id: call.toolCallId, name: call.name, input: parsed(call.input) };
  });
  if (own.length > 0) return [...again, ...called];
  // Reasoning without its seal is refused when the program tells it.
  return [...((words ?? '') === '' ? [] : [{ type: 'text', text: words }]), ...called];
}

/** How each block is written in pieces; others stand in their start. */
const PIECES: Record<string, (block: Fields, input?: string) => { start: Fields; deltas: Fields[] }> = {
  text: (block) => ({ start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block['text'] }] }),
  thinking: ({ type, thinking, signature }) => ({
    start: { type, thinking: '', signature: '' },
    deltas: [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ],
  }),
  tool_use: inputInPieces,
  server_tool_use: inputInPieces,
};

function inputInPieces(block: Fields, input = JSON.stringify(block['input'])) {
  const delta = { type: 'input_json_delta', partial_json: input };
  return { start: { ...block, input: {} }, deltas: [delta] };
}

function eventsOf(block: Fields, index: number, { calls }: Said): Fields[] {
  // As the model wrote it, to the last space.
  const input = calls.find(({ toolCallId }) => toolCallId === block['id'])?.input;
  const { start, deltas } = PIECES[text(block['type'])]?.(block, input) ?? { start: block, deltas: [] };
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function usageSaid({ usage = NO_USAGE }: Said) {
  return {
    input_tokens: usage.inputTokens - usage.cachedInputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
  };
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function error(status: number, code: string, message: string) {
  const type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { status, contentType: JSON_TYPE, body: JSON.stringify({ type: 'error', error: { type, message, code } }) };
}
