// OpenAI's responses. Tools stand in `tools`, and in items of the input: those given later, and those that a search has found.
import { newId } from './own-ids.js';
import { openAiError } from './openai-chat.js';
import { ResponsesGatherer } from './openai-responses-answer.js';
import { streamOf } from './event-stream.js';
import { type Fields, fields, isFields, list, text } from './fields.js';
import { Gathering } from './gathering.js';
import { openAiChoice, textOf, withTools } from './offered.js';
import { callIn, callsOf, itemOf, namesOf, resultIn, staying, toolName } from './responses-items.js';
import {
  BadWireRequest,
  endOf,
  type Forwarding,
  JSON_TYPE,
  NO_USAGE,
  type Said,
  STREAM_TYPE,
  type Wire,
  type WireMessage,
  type WireRequest,
} from './wire.js';

/** What needs a conversation, a prompt or an answer that is kept at the provider: nothing is, and an answer that comes later is not metered. */
const KEPT_THERE = ['previous_response_id', 'conversation', 'prompt', 'background'];
/** Items of the input that hold tools. */
const HOLD_TOOLS = ['additional_tools', 'tool_search_output'];

export const openAiResponses: Wire = {
  name: 'openai-responses',
  path: '/v1/responses',
  // The second says that tools may stand in the input.
  headers: ['openai-beta', 'x-openai-internal-codex-responses-lite'],
  read,
  forward,
  answer: (contentType) => new Gathering(contentType, new ResponsesGatherer()),
  say,
  error: openAiError,
};

function read(body: unknown, hide: readonly string[] = []): WireRequest {
  if (!isFields(body)) throw new BadWireRequest('The body must be a JSON object.');
  const { input, instructions } = body;
  if (typeof input !== 'string' && !Array.isArray(input)) throw new BadWireRequest("'input' must be text or a list.");
  for (const name of KEPT_THERE) {
    const value = body[name];
    if (value !== undefined && value !== null && value !== false) {
      throw new BadWireRequest(`'${name}' is not offered here: nothing is kept at the provider. Send the whole input.`);
    }
  }
  const rules = { hide, providerTools: [] };
  const tools = [body['tools'], ...toolsIn(input)].flatMap((given) => namesOf(staying(given, rules)));
  const messages = messagesOf(typeof input === 'string' ? [{ role: 'user', content: input }] : list(input));
  const before = text(instructions);
  return {
    body,
    streams: body['stream'] === true,
    tools: [...new Set(tools)],
    messages: before === '' ? messages : [{ role: 'system', text: before, calls: [], results: [] }, ...messages],
    results: messages.flatMap(({ results }) => results),
  };
}

function toolsIn(input: unknown): unknown[] {
  return list(input)
    .filter((item) => HOLD_TOOLS.includes(text(item['type'])))
    .map((item) => item['tools']);
}

/** Words and calls of one answer are one message, as in the other wires. */
function messagesOf(items: Fields[]): WireMessage[] {
  const messages: WireMessage[] = [];
  for (const item of items) {
    const message = messageOf(item);
    const last = messages.at(-1);
    if (message === null) continue;
    if (last?.role !== 'assistant' || message.role !== 'assistant') messages.push(message);
    else {
      last.text = [last.text, message.text].filter((one) => one !== '').join('\n\n');
      last.calls.push(...message.calls);
    }
  }
  return messages;
}

function messageOf(item: Fields): WireMessage | null {
  const result = resultIn(item);
  if (result !== null) return { role: 'tool', text: '', calls: [], results: [result] };
  const call = callIn(item);
  if (call !== null) return { role: 'assistant', text: '', calls: [call], results: [] };
  if (!['message', undefined].includes(item['type'] as string | undefined)) return null;
  const role = ROLES[text(item['role'])] ?? 'user';
  return { role, text: textOf(item['content']), calls: [], results: [] };
}

const ROLES: Record<string, WireMessage['role']> = { assistant: 'assistant', system: 'system', developer: 'system' };

function forward({ body }: WireRequest, about: Forwarding): Fields {
  const input = body['input'];
  const tools = staying(body['tools'], about);
  const left = Array.isArray(input) ? inputOf(input, about) : input;
  const names = [...tools, ...toolsIn(left).flatMap(list)].flatMap(choosable);
  return {
    ...withTools(body, tools, names, (given) => openAiChoice(given, toolName, names)),
    input: left,
    model: about.model,
    ...(about.effort === null ? {} : { reasoning: { ...fields(body['reasoning']), effort: about.effort } }),
    store: false,
  };
}

/** A `tool_choice` names a tool without its namespace. */
function choosable(tool: Fields): string[] {
  return [toolName(tool), ...list(tool['tools']).map(toolName)];
}

function inputOf(input: unknown[], about: Forwarding): unknown[] {
  return input.flatMap((item) => {
    if (!isFields(item) || !HOLD_TOOLS.includes(text(item['type']))) return [item];
    const tools = staying(item['tools'], about);
    return item['type'] === 'additional_tools' && tools.length === 0 ? [] : [{ ...item, tools }];
  });
}

const CUT: Record<string, string | undefined> = { length: 'max_output_tokens', content_filter: 'content_filter' };

function say({ body, streams }: WireRequest, said: Said) {
  const output = itemsSaid(said);
  const response = responseTo(body);
  const cut = CUT[endOf(said)];
  const status = cut === undefined ? 'completed' : 'incomplete';
  const why = cut === undefined ? {} : { incomplete_details: { reason: cut } };
  const done = { ...response, status, ...why, output, usage: usageSaid(said) };
  if (!streams) return { contentType: JSON_TYPE, body: JSON.stringify(done) };
  const events: Fields[] = [
    { type: 'response.created', response },
    ...output.flatMap(eventsOf),
    { type: `response.${status}`, response: done },
  ];
  const numbered = events.map((event, sequence_number) => ({ ...event, sequence_number }));
  return { contentType: STREAM_TYPE, body: streamOf(numbered, true) };
}

function itemsSaid({ text: words, reasoning, calls, own = [] }: Said): Fields[] {
  const written = callsOf(own);
  const called = calls.map((call) => {
    return written.find((one) => one.call.toolCallId === call.toolCallId)?.item ?? itemOf(call);
  });
  const again = own.filter((item) => {
    if (item['type'] === 'message') return words !== undefined;
    return item['type'] === 'reasoning' ? reasoning !== undefined : !written.some((one) => one.item === item);
  });
  if (own.length > 0) return [...again, ...called];
  // Reasoning without its seal is refused when the program tells it.
  const content = [{ type: 'output_text', text: words, annotations: [] }];
  const message = { type: 'message', id: newId('msg'), role: 'assistant', status: 'completed', content };
  return [...((words ?? '') === '' ? [] : [message]), ...called];
}

/** The events of one item: as a whole, but for text, which programs show as it comes. */
function eventsOf(item: Fields, output_index: number): Fields[] {
  const item_id = item['id'];
  const isMessage = item['type'] === 'message';
  const parts = isMessage ? list(item['content']) : [];
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, ...(isMessage ? { content: [] } : {}) } },
    ...parts.flatMap((part, content_index): Fields[] => {
      const at = { item_id, output_index, content_index };
      const delta = text(part['text']);
      return [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...at, delta },
        { type: 'response.output_text.done', ...at, text: delta },
        { type: 'response.content_part.done', ...at, part },
      ];
    }),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function responseTo(body: Fields): Fields {
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    model: text(body['model']),
    output: [],
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
  };
}

function usageSaid({ usage = NO_USAGE }: Said): Fields {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
