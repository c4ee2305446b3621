// The three forms in which agents ask a model: chat completions and responses of OpenAI's kind, messages of Anthropic's, all streamed. `read`
// finds in a request what a player needs; `events` writes an answer `{text, calls: [{id, name, arguments, freeform?, namespace?}]}`.
import { randomUUID } from 'node:crypto';

/** Of the arguments of a call, so that clients put them together. */
const PIECE = 400;
const CREATED = 1_700_000_000;

const data = (fields) => `data: ${JSON.stringify(fields)}\n\n`;

function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');
}

export const CHAT = {
  read({ tools = [], messages }) {
    const results = messages.filter(({ role }) => role === 'tool');
    const texts = results.map(({ tool_call_id: id, content }) => [id, textOf(content)]);
    return { offersTools: tools.length > 0, results: new Map(texts) };
  },

  events({ text, calls }, { inputTokens, outputTokens }) {
    const base = { id: 'chat', object: 'chat.completion.chunk', created: CREATED, model: 'player' };
    const choice = (delta, reason = null) => data({ ...base, choices: [{ index: 0, delta, finish_reason: reason }] });
    const usage = {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    };
    return [
      choice({ role: 'assistant', content: '' }),
      ...(text === '' ? [] : [choice({ content: text })]),
      ...calls.flatMap((one, index) => callDeltas(one, index).map((delta) => choice({ tool_calls: [delta] }))),
      choice({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      data({ ...base, choices: [], usage }),
      'data: [DONE]\n\n',
    ].join('');
  },
};

function callDeltas({ id, name, arguments: json }, index) {
  const pieces = json.match(new RegExp(`[^]{1,${PIECE}}`, 'g')) ?? [];
  return [
    { index, id, type: 'function', function: { name, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

export const RESPONSES = {
  read({ tools = [], input }) {
    const results = input.filter(({ type }) => /^(function|custom_tool)_call_output$/.test(type));
    const texts = results.map(({ call_id: id, output }) => [id, textOf(output)]);
    return { offersTools: tools.length > 0, results: new Map(texts) };
  },

  events({ text, calls }, { inputTokens, outputTokens }) {
    const items = calls.length > 0 ? calls.map(callItem) : [messageItem(text)];
    const usage = {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    };
    const response = { id: 'response', object: 'response', created_at: CREATED, model: 'player' };
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...items.flatMap((item, index) => [
        { type: 'response.output_item.added', output_index: index, item },
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      { type: 'response.completed', response: { ...response, status: 'completed', output: items, usage } },
    ];
    return events.map((event) => `event: ${event.type}\n${data(event)}`).join('');
  },
};

export const MESSAGES = {
  read({ tools = [], messages }) {
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const texts = results.map(({ tool_use_id: id, content }) => [id, textOf(content)]);
    return { offersTools: tools.length > 0, results: new Map(texts) };
  },

  events({ text, calls }, { inputTokens, outputTokens }) {
    // Two answers of one id are taken for parts of one.
    const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: 'player', content: [] };
    const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
    const blocks = [
      ...(text === ''
        ? []
        : [
            [
              { type: 'text', text: '' },
              { type: 'text_delta', text },
            ],
          ]),
      ...calls.map(({ id, name, arguments: json }) => [
        { type: 'tool_use', id, name, input: {} },
        { type: 'input_json_delta', partial_json: json },
      ]),
    ];
    const events = [
      { type: 'message_start', message: { ...message, stop_reason: null, usage } },
      ...blocks.flatMap(([begun, delta], index) => [
        { type: 'content_block_start', index, content_block: begun },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ];
    return events.map((event) => `event: ${event.type}\n${data(event)}`).join('');
  },
};

/** By the address at which it is asked. */
export function wireOf(url) {
  if (url.includes('/responses')) return RESPONSES;
  return url.includes('/messages') ? MESSAGES : CHAT;
}

function callItem({ id, name, arguments: json, freeform, namespace }) {
  const common = { id: `item_${id}`, call_id: id, name, status: 'completed', ...(namespace && { namespace }) };
  return freeform
    ? { ...common, type: 'custom_tool_call', input: json }
    : { ...common, type: 'function_call', arguments: json };
}

function messageItem(text) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'message', type: 'message', role: 'assistant', status: 'completed', content };
}
