// OpenAI's chat completions, as gateways and servers of open models speak them too.
import { callOf, ChatGatherer } from './openai-chat-answer.js';
import { type Fields, fields, isFields, list, parsed, text } from './fields.js';
import { Gathering } from './gathering.js';
import { newId } from './own-ids.js';
import { isAllowed, type Offered, openAiChoice, stays, textOf, withTools } from './offered.js';
import { streamOf } from './event-stream.js';
import {
  BadWireRequest,
  endOf,
  type Forwarding,
  JSON_TYPE,
  type Said,
  STREAM_TYPE,
  type Wire,
  type WireCall,
  type WireMessage,
  type WireRequest,
} from './wire.js';
import type { ModelUsage } from '../../models/model-provider.js';

/** Searches and the like that are no entry of `tools`: OpenAI's, OpenRouter's, xAI's, Qwen's. */
const RUN_BY_PROVIDER = ['web_search_options', 'plugins', 'search_parameters', 'enable_search'];
/** Other models than the one of the task: OpenRouter's. */
const CHOOSES_MODEL = ['models', 'route'];

export const openAiChat: Wire = {
  name: 'openai-chat',
  path: '/v1/chat/completions',
  headers: [],
  read,
  forward,
  answer: (contentType) => new Gathering(contentType, new ChatGatherer()),
  say,
  error: openAiError,
};

export function openAiError(status: number, code: string, message: string) {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  const body = JSON.stringify({ error: { message, type, param: null, code } });
  return { status, contentType: JSON_TYPE, body };
}

function read(body: unknown, hide: readonly string[] = []): WireRequest {
  if (!isFields(body)) throw new BadWireRequest('The body must be a JSON object.');
  if (!Array.isArray(body['messages'])) throw new BadWireRequest("'messages' must be a list.");
  if ((body['n'] ?? 1) !== 1) throw new BadWireRequest("'n' must be 1: one answer is read.");
  for (const name of ['functions', 'function_call']) {
    if (name in body) throw new BadWireRequest(`'${name}' is not taken here: use 'tools'.`);
  }
  const own = list(body['tools'])
    .map(offered)
    .filter((tool) => stays(tool, { hide, providerTools: [] }));
  const messages = list(body['messages']).map(messageOf);
  return {
    body,
    streams: body['stream'] === true,
    tools: [...new Set(own.map(({ name }) => name))],
    messages,
    results: messages.flatMap(({ results }) => results),
  };
}

function nameOf(entry: Fields): string {
  return text(fields(entry['function'] ?? entry['custom'])['name']) || text(entry['type']);
}

function offered(tool: Fields): Offered {
  const type = text(tool['type']);
  return { name: nameOf(tool), providerType: ['function', 'custom'].includes(type) ? null : type };
}

function messageOf(message: Fields): WireMessage {
  const said = textOf(message['content']);
  switch (message['role']) {
    case 'assistant':
      return { role: 'assistant', text: said, calls: list(message['tool_calls']).map(callOf), results: [] };
    case 'tool': {
      const result = { toolCallId: text(message['tool_call_id']), text: said, isError: false };
      return { role: 'tool', text: '', calls: [], results: [result] };
    }
    case 'system':
    case 'developer':
      return { role: 'system', text: said, calls: [], results: [] };
    default:
      return { role: 'user', text: said, calls: [], results: [] };
  }
}

function forward({ body, streams }: WireRequest, about: Forwarding): Fields {
  const tools = list(body['tools']).filter((tool) => stays(offered(tool), about));
  const names = tools.map(nameOf);
  const forwarded = withTools(body, tools, names, (given) => openAiChoice(given, nameOf, names));
  const left = Object.entries(forwarded).filter(([name]) => {
    return !CHOOSES_MODEL.includes(name) && (!RUN_BY_PROVIDER.includes(name) || isAllowed(name, about.providerTools));
  });
  return {
    ...Object.fromEntries(left),
    model: about.model,
    ...(about.effort === null ? {} : { reasoning_effort: about.effort }),
    // Not sent where the program does not speak of it: other servers than OpenAI's refuse what they do not know.
    ...('store' in body ? { store: false } : {}),
    // Without it the tokens of a stream are not told.
    ...(streams ? { stream_options: { ...fields(body['stream_options']), include_usage: true } } : {}),
  };
}

function say({ body, streams }: WireRequest, said: Said) {
  const message = messageSaid(said);
  const head = { id: newId('chatcmpl'), created: Math.floor(Date.now() / 1000), model: text(body['model']) };
  const reason = endOf(said);
  const usage = usageSaid(said.usage);
  if (!streams) {
    const choices = [{ index: 0, message: { content: null, ...message, role: 'assistant' }, finish_reason: reason }];
    return { contentType: JSON_TYPE, body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
  }
  const chunk = (delta: Fields, finish: string | null = null) => {
    return { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
  };
  const { tool_calls: calls, ...words } = message;
  const indexed = list(calls).map((call, index) => chunk({ tool_calls: [{ index, ...call }] }));
  const withUsage = fields(body['stream_options'])['include_usage'] === true;
  const events = [
    chunk({ role: 'assistant' }),
    ...(Object.keys(words).length === 0 ? [] : [chunk(words)]),
    ...indexed,
    chunk({}, reason),
    ...(withUsage ? [{ ...head, object: 'chat.completion.chunk', choices: [], usage }] : []),
  ];
  return { contentType: STREAM_TYPE, body: `${streamOf(events, false)}data: [DONE]\n\n` };
}

const WORDS = ['content', 'refusal'];
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** The message of an answer that is said again, or a new one; never with other calls than those given. */
function messageSaid({ text: words, reasoning, calls, own = [] }: Said): Fields {
  const before = own[0] ?? { content: words, reasoning_content: reasoning };
  const written = list(before['tool_calls']);
  const again = calls.map((call) => written.find(({ id }) => id === call.toolCallId) ?? callSaid(call));
  const kept = Object.entries(before).filter(([name, value]) => {
    if (value === undefined || value === '') return false;
    if (WORDS.includes(name)) return words !== undefined;
    return REASONING.includes(name) ? reasoning !== undefined : !['role', 'tool_calls'].includes(name);
  });
  return { ...Object.fromEntries(kept), ...(again.length === 0 ? {} : { tool_calls: again }) };
}

function callSaid({ toolCallId: id, name, input, form }: WireCall): Fields {
  if (form !== 'custom') return { id, type: 'function', function: { name, arguments: input } };
  return { id, type: 'custom', custom: { name, input: text(parsed(input)['input']) } };
}

function usageSaid(usage: ModelUsage | undefined): Fields {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
