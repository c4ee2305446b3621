// What Codex, Claude Code and opencode have asked their models, cut to what matters.
import { readFileSync } from 'node:fs';
import type { Fields } from './fields.js';
import type { WireName } from './wire.js';
import { WIRES } from './wires.js';

function captured(name: string) {
  const url = new URL(`../../../../test/fixtures/engines/${name}.json`, import.meta.url);
  const { wire, body } = JSON.parse(readFileSync(url, 'utf8')) as { wire: WireName; body: Fields };
  return { wire: WIRES[wire], body };
}

const ABOUT = { model: 'real', effort: null, hide: [], providerTools: [] } as const;

function toolsIn(body: Fields): string {
  return JSON.stringify([body['tools'], body['input']]);
}

describe('Codex', () => {
  it('tells what its tools did, and loses the search of its provider', () => {
    const { wire, body } = captured('codex-step');
    const request = wire.read(body, ['request_user_input', 'create_goal', 'update_goal', 'get_goal']);
    expect(request.streams).toBe(true);
    expect(request.tools).toEqual(['exec_command', 'write_stdin', 'apply_patch', 'view_image', 'tool_search']);
    expect(request.messages.flatMap(({ calls }) => calls)).toMatchObject([
      { name: 'exec_command', input: '{"cmd":"echo hello; id -u"}' },
      { name: 'apply_patch', input: expect.stringMatching(/^\{"input":"\*\*\* Begin Patch/), form: 'custom_tool_call' },
    ]);
    expect(request.results.map(({ text }) => text)).toEqual([
      expect.stringMatching(/Process exited with code 0[\s\S]*hello/),
      expect.stringMatching(/Success/),
    ]);
    expect(toolsIn(body)).toContain('web_search');
    const forwarded = wire.forward(request, ABOUT);
    expect(toolsIn(forwarded)).not.toContain('web_search');
    expect(forwarded).toMatchObject({ model: 'real', store: false, tool_choice: 'auto', input: body['input'] });
  });

  it('has sub-agents in a namespace, which can be hidden', () => {
    const { wire, body } = captured('codex-namespace');
    expect(wire.read(body).tools).toContain('multi_agent_v1.spawn_agent');
    const about = { ...ABOUT, hide: ['multi_agent_v1'] };
    const request = wire.read(body, about.hide);
    expect(request.tools).toContain('exec_command');
    expect(request.tools.join()).not.toContain('agent');
    expect(toolsIn(wire.forward(request, about))).not.toContain('spawn_agent');
  });

  it('in its mode of code has its tools in the input', () => {
    const { wire, body } = captured('codex-code-mode');
    const about = { ...ABOUT, hide: ['collaboration', 'request_user_input', 'request_user_input_async'] };
    const request = wire.read(body, about.hide);
    expect(request.tools).toEqual(['exec', 'wait', 'clock.sleep']);
    const forwarded = toolsIn(wire.forward(request, about));
    expect(forwarded).toContain('additional_tools');
    expect(forwarded).not.toContain('spawn_agent');
  });
});

describe('Claude Code', () => {
  it('tells what its tools did, and which of them failed', () => {
    const { wire, body } = captured('claude-code-step');
    const request = wire.read(body, ['WebSearch']);
    expect(request.tools).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Read', 'Write']));
    expect(request.tools).not.toContain('WebSearch');
    expect(request.messages.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(['Bash', 'Read', 'Write']);
    expect(request.results.map(({ isError }) => isError)).toEqual([false, false, true]);
    const { model: _, tools, ...rest } = wire.forward(request, { ...ABOUT, hide: ['WebSearch'] });
    expect(tools).toHaveLength((body['tools'] as unknown[]).length - 1);
    expect(body).toMatchObject(rest);
  });
});

describe('opencode', () => {
  it('tells what its tools did', () => {
    const { wire, body } = captured('opencode-step');
    const request = wire.read(body, ['task']);
    expect(request.tools).toContain('bash');
    expect(request.tools).not.toContain('task');
    expect(request.messages.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(['bash', 'read', 'write']);
    expect(request.results.map(({ text }) => text)).toEqual([
      'hello\n0\n',
      expect.stringMatching(/^File not found/),
      'Wrote file successfully.',
    ]);
  });

  it('asks for a title without tools', () => {
    const { wire, body } = captured('opencode-title');
    expect(wire.read(body).tools).toEqual([]);
    const { model: _, ...rest } = wire.forward(wire.read(body), ABOUT);
    expect(body).toMatchObject(rest);
  });
});
