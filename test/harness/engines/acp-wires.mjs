// How the small agent program asks a model: one streamed request on each of the three wires.
import { existsSync, readFileSync } from 'node:fs';
import { TextDecoderStream } from 'node:stream/web';

const { MODEL_URL, MODEL_WIRE = 'openai-chat', EXTRA_TOOL } = process.env;
/** What a repository says to it: the model that it asks for, and tools of its provider's that it asks for too. */
const SETTINGS = '.acp/settings.json';
const { model: MODEL_NAME = 'model', tools: EXTRA_TOOLS = [] } = existsSync(SETTINGS)
  ? JSON.parse(readFileSync(SETTINGS, 'utf8'))
  : {};
/** The same from its environment. */
const extra = [...EXTRA_TOOLS, ...(EXTRA_TOOL === undefined ? [] : [JSON.parse(EXTRA_TOOL)])];

const WIRES = {
  'openai-chat': {
    path: '/v1/chat/completions',
    body: (messages, tools) => ({
      stream_options: { include_usage: true },
      messages: messages.map(chatMessage),
      tools: tools.map(({ name, description, schema }) => {
        return { type: 'function', function: { name, description, parameters: schema } };
      }),
    }),
    take: ({ choices: [choice] = [] }, answer) => {
      const { content, tool_calls: calls = [] } = choice?.delta ?? {};
      answer.text += content ?? '';
      for (const { index, id, function: { name, arguments: input = '' } = {} } of calls) {
        const call = (answer.calls[index] ??= { id, name, input: '' });
        call.input += input;
      }
      if (choice?.finish_reason === 'length') answer.isCut = true;
      if (typeof choice?.finish_reason === 'string') answer.isOver = true;
    },
  },
  'openai-responses': {
    path: '/v1/responses',
    body: (messages, tools) => ({
      input: messages.flatMap(responsesItems),
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: schema,
      })),
    }),
    take: ({ type, item, response }, answer) => {
      if (type === 'response.output_item.done' && item.type === 'message')
        answer.text += item.content.map(({ text }) => text).join('');
      if (type === 'response.output_item.done' && item.type === 'function_call') {
        answer.calls.push({ id: item.call_id, name: item.name, input: item.arguments });
      }
      if (type === 'response.output_item.done' && item.type === 'custom_tool_call') {
        answer.calls.push({ id: item.call_id, name: item.name, input: JSON.stringify({ input: item.input }) });
      }
      if (response?.incomplete_details?.reason === 'max_output_tokens') answer.isCut = true;
      if (/^response\.(completed|incomplete)$/.test(type)) answer.isOver = true;
    },
  },
  'anthropic-messages': {
    path: '/v1/messages',
    body: (messages, tools) => ({
      max_tokens: 8_000,
      messages: messages.map(anthropicMessage),
      tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    }),
    take: ({ type, index, content_block: block, delta }, answer) => {
      if (type === 'content_block_start' && block.type === 'tool_use') {
        answer.blocks[index] = { id: block.id, name: block.name, input: '' };
        answer.calls.push(answer.blocks[index]);
      }
      if (delta?.type === 'text_delta') answer.text += delta.text;
      if (delta?.type === 'input_json_delta') answer.blocks[index].input += delta.partial_json;
      if (delta?.stop_reason === 'max_tokens') answer.isCut = true;
      if (type === 'message_stop') answer.isOver = true;
    },
  },
};

function chatMessage({ role, text, id, calls = [] }) {
  if (role === 'tool') return { role, tool_call_id: id, content: text };
  const written = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.input },
  }));
  return { role, content: text, ...(written.length === 0 ? {} : { tool_calls: written }) };
}

function responsesItems({ role, text, id, calls = [] }) {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: text }];
  const type = role === 'user' ? 'input_text' : 'output_text';
  return [
    ...(text === '' ? [] : [{ type: 'message', role, content: [{ type, text }] }]),
    ...calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.input })),
  ];
}

function anthropicMessage({ role, text, id, isError, calls = [] }) {
  if (role === 'tool') {
    return {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: text, is_error: isError === true }],
    };
  }
  const words = text === '' ? [] : [{ type: 'text', text }];
  const written = calls.map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.name,
    input: JSON.parse(call.input),
  }));
  return { role, content: [...words, ...written] };
}

/** One answer: `{text, calls: [{id, name, input}], isCut}`. Asked again twice where the model says that it is busy, or breaks off. */
export async function ask({ messages, tools, signal, thread }, tries = 3) {
  const wire = WIRES[MODEL_WIRE];
  const body = { model: MODEL_NAME, stream: true, ...wire.body(messages, tools) };
  if (tools.length === 0) delete body.tools;
  else body.tools.push(...extra);
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer none',
    'anthropic-version': '2023-06-01',
    ...(thread === undefined ? {} : { 'thread-id': thread }),
  };
  const response = await fetch(MODEL_URL + wire.path, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (!response.ok) {
    const said = await response.text();
    if (tries > 1 && (response.status === 429 || response.status >= 500))
      return ask({ messages, tools, signal, thread }, tries - 1);
    throw new Error(`The model answered ${response.status}: ${said.slice(0, 500)}`);
  }
  const answer = { text: '', calls: [], blocks: [], isCut: false, isOver: false };
  let rest = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('data: {')) wire.take(JSON.parse(line.slice(6)), answer);
    }
  }
  if (!answer.isOver) throw new Error('The answer of the model has no end.');
  return answer;
}
