// Of the requests what one wire has and the others have not.
import { EMPTY, forward, FUNCTION } from '../../../../test/harness/engines/wire-requests.js';
import { WIRES } from './wires.js';

describe('openai-chat', () => {
  it('asks for the tokens of a stream, and keeps nothing at the provider', () => {
    expect(forward('openai-chat', { stream: true, store: true })).toMatchObject({
      stream_options: { include_usage: true },
      store: false,
    });
    expect(forward('openai-chat', {})).not.toHaveProperty('stream_options');
  });

  it('has the effort in a field of its own', () => {
    expect(forward('openai-chat', { reasoning_effort: 'low' }, { effort: 'high' })).toMatchObject({
      reasoning_effort: 'high',
    });
    expect(forward('openai-chat', { reasoning_effort: 'low' })).toMatchObject({ reasoning_effort: 'low' });
  });

  it('keeps of the allowed tools those that are left', () => {
    const [a, b] = ['a', 'b'].map(FUNCTION['openai-chat']);
    const chosen = (tools: unknown[]) => ({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } });
    const body = { tools: [a, b], tool_choice: chosen([a, b]) };
    expect(forward('openai-chat', body, { hide: ['b'] })['tool_choice']).toEqual(chosen([a]));
    expect(forward('openai-chat', { tools: [a, b], tool_choice: chosen([b]) }, { hide: ['b'] })['tool_choice']).toBe(
      'auto',
    );
  });

  it('tells words, calls and results in one form', () => {
    const call = { id: 'c', type: 'function', function: { name: 'a', arguments: '{"x":1}' } };
    const { messages, results } = WIRES['openai-chat'].read({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: [{ type: 'text', text: 'Do' }, { type: 'image_url' }, { type: 'text', text: 'it' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
      ],
    });
    const result = { toolCallId: 'c', text: 'done', isError: false };
    expect(messages).toEqual([
      { role: 'system', text: 'Be good.', calls: [], results: [] },
      { role: 'user', text: 'Do\nit', calls: [], results: [] },
      { role: 'assistant', text: '', calls: [{ toolCallId: 'c', name: 'a', input: '{"x":1}' }], results: [] },
      { role: 'tool', text: '', calls: [], results: [result] },
    ]);
    expect(results).toEqual([result]);
  });
});

describe('openai-responses', () => {
  const name = 'openai-responses';
  const local = { type: 'local_shell' };
  const patch = { type: 'custom', name: 'apply_patch' };
  const search = { type: 'tool_search', execution: 'client' };
  const shell = { type: 'shell', environment: { type: 'local' } };
  const agents = { type: 'namespace', name: 'agents', tools: [FUNCTION[name]('spawn'), FUNCTION[name]('wait')] };

  it('keeps what the program itself runs', () => {
    const tools = [local, patch, search, shell, agents];
    expect(forward(name, { tools })['tools']).toEqual(tools);
    const names = ['local_shell', 'apply_patch', 'tool_search', 'shell', 'agents.spawn', 'agents.wait'];
    expect(WIRES[name].read({ ...EMPTY[name], tools }).tools).toEqual(names);
  });

  it.each([
    [['agents'], undefined],
    [['agents.spawn', 'wait'], undefined],
    [['spawn'], [{ ...agents, tools: [FUNCTION[name]('wait')] }]],
  ])('hides %j of a namespace', (hide, left) => {
    expect(forward(name, { tools: [agents] }, { hide })['tools']).toEqual(left);
  });

  it.each(['additional_tools', 'tool_search_output'])('looks after tools in %s of the input', (type) => {
    const web = { type: 'web_search' };
    const inside = { type: 'namespace', name: 'functions', tools: [patch, web] };
    const item = (tools: unknown[]) => ({ type, call_id: 'c', tools });
    const input = [item([inside, web, agents]), { role: 'user', content: 'Go' }];
    const body = { input, tool_choice: 'auto' };
    expect(forward(name, body, { hide: ['agents'] })).toMatchObject({
      input: [item([{ ...inside, tools: [patch] }]), input[1]],
      tool_choice: 'auto',
    });
    expect(WIRES[name].read(body, ['agents']).tools).toEqual(['apply_patch']);
  });

  it('keeps nothing at the provider, and has the effort with what else is said of reasoning', () => {
    const body = { store: true, reasoning: { effort: 'low', summary: 'auto' } };
    expect(forward(name, body, { effort: 'high' })).toMatchObject({
      store: false,
      reasoning: { effort: 'high', summary: 'auto' },
    });
  });

  it('tells words, calls and results in one form', () => {
    const { messages, results } = WIRES[name].read({
      instructions: 'Be good.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do it' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I do.' }] },
        { type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '***' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'patched' }] },
        { type: 'shell_call_output', call_id: 'c3', output: [{ stdout: 'out', stderr: 'err', outcome: {} }] },
      ],
    });
    expect(messages.map(({ role, text }) => [role, text])).toEqual([
      ['system', 'Be good.'],
      ['user', 'Do it'],
      ['assistant', 'I do.'],
      ['tool', ''],
      ['tool', ''],
      ['tool', ''],
    ]);
    expect(messages[2]?.calls.map((call) => call.name)).toEqual(['a', 'apply_patch']);
    expect(results.map(({ toolCallId, text }) => [toolCallId, text])).toEqual([
      ['c1', 'done'],
      ['c2', 'patched'],
      ['c3', 'outerr'],
    ]);
    expect(WIRES[name].read({ input: 'Hello' }).messages).toMatchObject([{ role: 'user', text: 'Hello' }]);
  });
});

describe('anthropic-messages', () => {
  const name = 'anthropic-messages';

  it('keeps the tools that Anthropic describes and the program runs', () => {
    const tools = [
      { type: 'custom', name: 'a', input_schema: {} },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    ];
    expect(forward(name, { tools })['tools']).toEqual(tools);
    expect(WIRES[name].read({ ...EMPTY[name], tools }).tools).toEqual(['a', 'bash', 'str_replace_based_edit_tool']);
  });

  it('has the effort by its name, and for an older Claude as tokens to think', () => {
    const body = { output_config: { format: {} }, thinking: { type: 'adaptive' }, max_tokens: 32_000 };
    const named = forward(name, body, { model: 'claude-sonnet-5-5', effort: 'low' });
    expect(named).toMatchObject({ output_config: { format: {}, effort: 'low' }, thinking: { type: 'adaptive' } });
    const older = forward(name, body, { model: 'claude-haiku-4-5', effort: 'low' });
    expect(older).toMatchObject({ output_config: { format: {} }, thinking: { type: 'enabled', budget_tokens: 4_000 } });
    const short = forward(name, { ...body, max_tokens: 1_000 }, { model: 'claude-haiku-4-5', effort: 'low' });
    expect(short).toMatchObject({ thinking: { type: 'adaptive' } });
  });

  it('tells words, calls and results in one form', () => {
    const { messages, results } = WIRES[name].read({
      system: [{ type: 'text', text: 'Be good.' }],
      messages: [
        { role: 'user', content: 'Do it' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '…', signature: 'x' },
            { type: 'text', text: 'I do.' },
            { type: 'tool_use', id: 'c', name: 'a', input: { x: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', is_error: true, content: [{ type: 'text', text: 'no' }] },
            { type: 'text', text: 'And then?' },
          ],
        },
        { role: 'system', content: 'Careful.' },
      ],
    });
    expect(messages.map(({ role, text }) => [role, text])).toEqual([
      ['system', 'Be good.'],
      ['user', 'Do it'],
      ['assistant', 'I do.'],
      ['tool', ''],
      ['user', 'And then?'],
      ['system', 'Careful.'],
    ]);
    expect(messages[2]?.calls).toEqual([{ toolCallId: 'c', name: 'a', input: '{"x":1}' }]);
    expect(results).toEqual([{ toolCallId: 'c', text: 'no', isError: true }]);
  });
});
