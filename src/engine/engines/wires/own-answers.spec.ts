// Of the answers what one wire has and the others have not.
import { chatStream, messagesStream, responsesStream } from '../../../../test/harness/engines/fake-streams.js';
import type { WireCall, WireName } from './wire.js';
import { WIRES } from './wires.js';

function answer(name: WireName, text: string, contentType = 'text/event-stream') {
  const reader = WIRES[name].answer(contentType);
  reader.add(Buffer.from(text));
  return reader.end();
}

const events = (...values: object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

describe('openai-chat', () => {
  it('ends with [DONE] where a server gives no reason', () => {
    const said = events({ choices: [{ index: 0, delta: { content: 'Hello' } }] });
    expect(answer('openai-chat', said)).toMatchObject({ text: 'Hello', complete: false });
    expect(answer('openai-chat', `${said}data: [DONE]\n\n`)).toMatchObject({ finish: 'other', complete: true });
  });

  it.each([
    ['two choices', { index: 1, delta: { content: 'x' } }],
    ['a call without an id', { index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'a' } }] } }],
    ['a call of the old kind', { index: 0, delta: { function_call: { name: 'a', arguments: '{}' } } }],
  ])('does not let %s pass unread', (_, choice) => {
    const said = events({ choices: [choice] }, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    expect(answer('openai-chat', said)).toMatchObject({ complete: false, failed: { code: 'unreadable' } });
  });

  it('keeps what a server ties to a call and to reasoning', () => {
    const seal = { google: { thought_signature: 'sealed' } };
    const call = { index: 0, id: 'c', type: 'function', extra_content: seal, function: { name: 'a', arguments: '{}' } };
    const said = events(
      { choices: [{ index: 0, delta: { reasoning_details: [{ text: 'a' }] } }] },
      { choices: [{ index: 0, delta: { reasoning_details: [{ text: 'b' }] } }] },
      { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] },
    );
    const { own } = answer('openai-chat', said);
    expect(own).toMatchObject([
      { reasoning_details: [{ text: 'a' }, { text: 'b' }], tool_calls: [{ extra_content: seal }] },
    ]);
  });
});

describe('openai-responses', () => {
  const CALLS: [string, object, WireCall][] = [
    [
      'a call as plain text',
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'apply_patch', input: '*** Begin "Patch"' },
      { toolCallId: 'c', name: 'apply_patch', input: '{"input":"*** Begin \\"Patch\\""}', form: 'custom_tool_call' },
    ],
    [
      'a call of the local shell',
      { type: 'local_shell_call', id: 'ls_1', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      { toolCallId: 'c', name: 'local_shell', input: '{"type":"exec","command":["ls"]}', form: 'local_shell_call' },
    ],
    [
      'a call of a tool in a namespace',
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'ask', namespace: 'mcp__millwright', arguments: '{}' },
      { toolCallId: 'c', name: 'mcp__millwright__ask', input: '{}', namespace: 'mcp__millwright' },
    ],
    [
      'a call of a sub-agent',
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'spawn', namespace: 'agents', arguments: '{}' },
      { toolCallId: 'c', name: 'agents.spawn', input: '{}', namespace: 'agents' },
    ],
    [
      'a search for tools that the program makes',
      { type: 'tool_search_call', id: 'ts_1', call_id: 'c', execution: 'client', arguments: { query: 'ask' } },
      { toolCallId: 'c', name: 'tool_search', input: '{"query":"ask"}', form: 'tool_search_call' },
    ],
  ];

  it.each(CALLS)('reads %s, and says it again with the item and without', (_, item, call) => {
    const said = events(
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    );
    const read = answer('openai-responses', said);
    expect(read.calls).toEqual([call]);
    const request = WIRES['openai-responses'].read({ input: [], stream: true });
    for (const own of [read.own, []]) {
      const { body } = WIRES['openai-responses'].say(request, { calls: [call], own });
      expect(answer('openai-responses', body).calls).toEqual([call]);
    }
  });

  it.each([
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'tool_search_call', id: 'ts_1', call_id: 'c', execution: 'server', arguments: {} },
  ])('takes nothing for a call that the provider carries out ($type)', (item) => {
    const said = events({ type: 'response.completed', response: { status: 'completed', output: [item] } });
    expect(answer('openai-responses', said)).toMatchObject({ calls: [], finish: 'stop', own: [item] });
  });

  it('takes nothing for a call whose result the provider tells in the same answer', () => {
    const call = { type: 'shell_call', id: 'sh', call_id: 'c', action: { commands: ['ls'] } };
    const result = { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'a', stderr: '' }] };
    const both = { type: 'response.completed', response: { status: 'completed', output: [call, result] } };
    expect(answer('openai-responses', events(both))).toMatchObject({ calls: [], own: [call, result] });
    const alone = { type: 'response.completed', response: { status: 'completed', output: [call] } };
    expect(answer('openai-responses', events(alone)).calls).toMatchObject([{ toolCallId: 'c', name: 'shell' }]);
  });

  it('may end with [DONE]', () => {
    const stream = `${responsesStream('m', { text: 'Hello' }).join('')}data: [DONE]\n\n`;
    expect(answer('openai-responses', stream)).toMatchObject({ text: 'Hello', complete: true });
  });

  it('reads items that stand in the end alone, and calls that stand before it alone', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'a', arguments: '{}' });
    const message = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };
    const end = { type: 'response.completed', response: { status: 'completed', output: [message, call('c1')] } };
    const read = answer(
      'openai-responses',
      events({ type: 'response.output_item.done', output_index: 0, item: call('c0') }, end),
    );
    expect(read.text).toBe('Hello');
    expect(read.calls.map(({ toolCallId }) => toolCallId)).toEqual(['c0', 'c1']);
  });

  it('puts an empty line between two messages and between two parts of reasoning', () => {
    const delta = (type: string, output_index: number, at: object) => ({ type, output_index, ...at });
    const said = events(
      delta('response.reasoning_summary_text.delta', 0, { summary_index: 0, delta: 'One' }),
      delta('response.reasoning_summary_text.delta', 0, { summary_index: 1, delta: 'Two' }),
      delta('response.output_text.delta', 1, { delta: 'First' }),
      delta('response.output_text.delta', 1, { delta: '.' }),
      delta('response.output_text.delta', 2, { delta: 'Second' }),
    );
    expect(answer('openai-responses', said)).toMatchObject({ reasoning: 'One\n\nTwo', text: 'First.\n\nSecond' });
  });

  it('that failed says why', () => {
    const error = { code: 'server_error', message: 'It broke.' };
    const said = events({ type: 'response.failed', response: { status: 'failed', error } });
    expect(answer('openai-responses', said)).toMatchObject({ complete: false, failed: error });
  });
});

describe('anthropic-messages', () => {
  it('keeps the seal of reasoning, and gives a call that was cut as it was written', () => {
    const pieces = messagesStream('m', {
      reasoning: 'So.',
      calls: [{ id: 'c', name: 'a', arguments: '{"path": "/wor' }],
    });
    const { own, calls } = answer('anthropic-messages', pieces.join(''));
    expect(own[0]).toEqual({ type: 'thinking', thinking: 'So.', signature: 'sealed' });
    expect(calls).toEqual([{ toolCallId: 'c', name: 'a', input: '{"path": "/wor' }]);
  });

  it('that begins twice cannot be read', () => {
    const [once, twice] = [messagesStream('m', { text: 'One' }), messagesStream('m', { text: 'Two' })];
    const spliced = answer('anthropic-messages', [...once.slice(0, 3), ...twice].join(''));
    expect(spliced).toMatchObject({ complete: false, failed: { code: 'unreadable' } });
  });

  it('says a call again as it was written, to the last space', () => {
    const pieces = messagesStream('m', { calls: [{ id: 'c', name: 'a', arguments: '{ "x" : 1 }' }] });
    const read = answer('anthropic-messages', pieces.join(''));
    const request = WIRES['anthropic-messages'].read({ messages: [], stream: true });
    const { body } = WIRES['anthropic-messages'].say(request, read);
    expect(answer('anthropic-messages', body).calls).toEqual([{ toolCallId: 'c', name: 'a', input: '{ "x" : 1 }' }]);
  });

  it('reads a call that stands in the first event', () => {
    const block = { type: 'tool_use', id: 'c', name: 'a', input: { x: 1 } };
    const said = events(
      { type: 'message_start', message: { content: [block], usage: { input_tokens: 3 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    );
    const read = answer('anthropic-messages', said);
    expect(read).toMatchObject({ text: 'Hello', calls: [{ toolCallId: 'c', input: '{"x":1}' }], complete: true });
  });

  it('takes no call for its own that the provider carries out', () => {
    const block = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } };
    const message = { type: 'message', content: [block], stop_reason: 'end_turn', usage: {} };
    expect(answer('anthropic-messages', JSON.stringify(message), 'application/json')).toMatchObject({
      calls: [],
      own: [block],
    });
  });

  it('counts what is written to a cache and read from it as tokens that it was told', () => {
    const usage = { input_tokens: 5, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 7 };
    const message = { type: 'message', content: [], stop_reason: 'end_turn', usage };
    const read = answer('anthropic-messages', JSON.stringify(message), 'application/json');
    expect(read.usage).toEqual({ inputTokens: 325, cachedInputTokens: 300, outputTokens: 7, reasoningTokens: 0 });
  });
});

it('tells no answer of one wire for a complete one of another', () => {
  const said = { text: 'Hello' };
  const streams = {
    'openai-chat': chatStream('m', said, true),
    'openai-responses': responsesStream('m', said),
    'anthropic-messages': messagesStream('m', said),
  };
  for (const [name, stream] of Object.entries(streams)) {
    for (const other of Object.keys(streams).filter((one) => one !== name)) {
      expect(answer(other as WireName, stream.join('').replaceAll('data: [DONE]\n\n', '')).complete).toBe(false);
    }
  }
});
