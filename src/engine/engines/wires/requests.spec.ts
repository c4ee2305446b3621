import { EMPTY, forward, FUNCTION } from '../../../../test/harness/engines/wire-requests.js';
import { BadWireRequest, WIRE_NAMES, type WireName } from './wire.js';
import { WIRES } from './wires.js';

const PROVIDER_TOOLS: Record<WireName, { type: string; name?: string }[]> = {
  'openai-chat': [{ type: 'web_search' }, { type: 'openrouter:web_search' }, { type: 'never_heard_of' }, { type: '' }],
  'openai-responses': [
    { type: 'web_search' },
    { type: 'web_search_preview' },
    { type: 'file_search' },
    { type: 'code_interpreter' },
    { type: 'image_generation' },
    { type: 'mcp', name: 'x' },
    { type: 'computer_use_preview' },
    { type: 'computer' },
    { type: 'tool_search' },
    { type: 'shell' },
    { type: 'never_heard_of', name: 'function' },
  ],
  'anthropic-messages': [
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'web_fetch_20250910', name: 'web_fetch' },
    { type: 'code_execution_20250825', name: 'code_execution' },
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    { type: 'mcp_toolset' },
    { type: 'never_heard_of', name: 'Bash' },
  ],
};

const OTHER_WAYS: [WireName, string, unknown, string | null][] = [
  ['openai-chat', 'web_search_options', {}, 'web_search_options'],
  ['openai-chat', 'plugins', [{ id: 'web' }], 'plugins'],
  ['openai-chat', 'search_parameters', { mode: 'on' }, 'search_parameters'],
  ['openai-chat', 'models', ['another/model'], null],
  ['anthropic-messages', 'mcp_servers', [{ type: 'url', url: 'https://mcp.example', name: 'x' }], 'mcp_servers'],
  ['anthropic-messages', 'container', { skills: [] }, 'container'],
  ['anthropic-messages', 'fallbacks', [{ model: 'another' }], null],
];

const REFUSED: [WireName, object][] = [
  ['openai-chat', { n: 2 }],
  ['openai-chat', { functions: [] }],
  ['openai-chat', { function_call: 'auto' }],
  ['openai-responses', { previous_response_id: 'resp_1' }],
  ['openai-responses', { conversation: 'conv_1' }],
  ['openai-responses', { prompt: { id: 'pmpt_1' } }],
  ['openai-responses', { background: true }],
];

function choice(name: WireName, tool: string): object {
  if (name === 'openai-chat') return { type: 'function', function: { name: tool } };
  return name === 'openai-responses' ? { type: 'function', name: tool } : { type: 'tool', name: tool };
}

describe.each(WIRE_NAMES)('a request of %s', (name) => {
  const wire = WIRES[name];
  const tool = FUNCTION[name];

  it.each([[null], [[]], ['text'], [7], [{}], [{ messages: 'x', input: 7 }]])('%j is none', (body) => {
    expect(() => wire.read(body)).toThrow(BadWireRequest);
  });

  it('goes on as it is, but for its model', () => {
    const body = {
      ...EMPTY[name],
      model: 'ours',
      temperature: 0.2,
      metadata: { a: 1 },
      tools: [tool('a')],
      max_tokens: 9,
    };
    const store = name === 'openai-responses' ? { store: false } : {};
    expect(forward(name, body)).toEqual({ ...body, model: 'real', ...store });
  });

  it('names its tools without the hidden ones', () => {
    const tools = [tool('shell'), tool('spawn'), tool('shell')];
    expect(wire.read({ ...EMPTY[name], tools }, ['spawn']).tools).toEqual(['shell']);
    expect(wire.read({ ...EMPTY[name], tools: [{ type: 'web_search' }] }).tools).toEqual([]);
    expect(wire.read({ ...EMPTY[name] }).tools).toEqual([]);
  });

  it('loses hidden tools, and a choice that means one becomes auto', () => {
    const left = forward(
      name,
      { tools: [tool('shell'), tool('spawn')], tool_choice: choice(name, 'spawn') },
      { hide: ['spawn'] },
    );
    expect(left['tools']).toEqual([tool('shell')]);
    expect(left['tool_choice']).toEqual(name === 'anthropic-messages' ? { type: 'auto' } : 'auto');
    const kept = forward(name, { tools: [tool('shell')], tool_choice: choice(name, 'shell') });
    expect(kept['tool_choice']).toEqual(choice(name, 'shell'));
  });

  it('says nothing of tools when none is left', () => {
    const body = { tools: [tool('spawn')], tool_choice: choice(name, 'spawn'), parallel_tool_calls: true };
    const left = forward(name, body, { hide: ['spawn'] });
    expect(Object.keys(left)).not.toEqual(expect.arrayContaining(['tools']));
    expect(left).not.toHaveProperty('tool_choice');
    expect(left).not.toHaveProperty('parallel_tool_calls');
  });

  it.each(PROVIDER_TOOLS[name])('loses $type, which the provider runs, unless it is named', (given) => {
    const body = { tools: [tool('shell'), given], tool_choice: { type: given.type, name: given['name'] } };
    expect(forward(name, body)['tools']).toEqual([tool('shell')]);
    expect(forward(name, body, { providerTools: ['something_else', 'Bash'] })['tools']).toEqual([tool('shell')]);
    for (const named of [given.type, given.type.replace(/_\d{8}$/, '')]) {
      expect(forward(name, body, { providerTools: [named] })['tools']).toEqual([tool('shell'), given]);
    }
  });
});

it.each(OTHER_WAYS)('a request of %s loses %s', (name, field, value, providerTool) => {
  expect(forward(name, { [field]: value })).not.toHaveProperty(field);
  const named = providerTool === null ? [field] : [providerTool];
  expect(field in forward(name, { [field]: value }, { providerTools: named })).toBe(providerTool !== null);
});

it.each(REFUSED)('a request of %s with %j is refused, in words for the program', (name, body) => {
  expect(() => WIRES[name].read({ ...EMPTY[name], ...body })).toThrow(BadWireRequest);
});
