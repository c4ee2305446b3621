import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentBench, assistant, call, user } from '../../../../test/harness/agent.js';
import { ProviderBench, requestOf } from '../../../../test/harness/provider-bench.js';
import { type ProviderAnswer, ProviderServer } from '../../../../test/harness/provider-server.js';
import { readEnv } from '../../../platform/config/env.js';
import { AnswerCollector, type ModelAnswer } from '../../agent/model-answer.js';
import type { ConversationMessage } from '../conversation.js';
import type { ModelPart, ToolDefinition } from '../model-provider.js';
import { AiSdkProvider } from './ai-sdk-provider.js';

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"A" \\ line.\n*** End Patch\n';
const TEXT = JSON.stringify(PATCH);

let agent: AgentBench;
let bench: ProviderBench;
let tools: ToolDefinition[];
beforeAll(async () => {
  [agent, bench] = await Promise.all([AgentBench.start(), ProviderBench.start()]);
  tools = agent.registry.definitions(true).filter(({ name }) => name === 'apply_patch' || name === 'read');
});
afterAll(() => Promise.all([agent.close(), bench.close()]));

const bodyOf = async (provider: AiSdkProvider, messages: ConversationMessage[], offered = tools) => {
  const { body } = await bench.sent(provider, null, messages, { tools: offered });
  return body as { tools?: Record<string, unknown>[]; input: Record<string, unknown>[] };
};
const done = { status: 'success' as const, output: { files: ['A a.txt'] } };

describe('apply_patch as plain text', () => {
  it('is offered to GPT-5 and later by the Responses API with its grammar, beside tools that take JSON', async () => {
    const { tools: sent } = await bodyOf(bench.providerOf('openai', 'gpt-5.5'), [user('Go')]);
    const [patch, read] = tools;
    expect(sent).toEqual([
      {
        type: 'custom',
        name: 'apply_patch',
        description: patch?.description,
        format: {
          type: 'grammar',
          syntax: 'lark',
          definition: expect.stringMatching(/^start: .*operation\+/) as unknown,
        },
      },
      { type: 'function', name: 'read', description: read?.description, parameters: read?.inputSchema },
    ]);
  });

  it.each([
    ['openai', 'gpt-4.1'],
    ['openai', 'gpt-5-chat-latest'],
    ['openai', 'codex-mini-latest'],
    ['openai-compatible', 'openai/gpt-5.5'],
    ['openai-compatible', 'gpt-5.5'],
    ['anthropic', 'claude-sonnet-5-5'],
    ['google', 'gemini-pro-latest'],
  ])('is JSON for %s, %s: the service says nothing of a grammar', async (provider, model) => {
    const messages = [user('Go'), assistant('', call('1', 'apply_patch', { patch: PATCH }, done)), user('On')];
    const text = JSON.stringify(await bodyOf(bench.providerOf(provider, model), messages));
    expect(text).not.toMatch(/freeform|grammar|lark|custom|start: /);
    expect(text).toContain('"apply_patch"');
  });

  it('goes back as text, also what was written as JSON or cannot be read, and all other calls as JSON', async () => {
    const stored = (id: string): ConversationMessage['parts'][number] => {
      const providerMetadata = { openai: { itemId: `fc_${id}` }, millwright: { by: 'openai/gpt-5.5' } };
      return { type: 'tool', toolCallId: id, providerMetadata };
    };
    const invocations = [
      call('1', 'apply_patch', { patch: PATCH }, done),
      call('2', 'apply_patch', { b: 1, a: 'x' }, { status: 'error', error: 'Wrong.' }),
      call('3', 'apply_patch', '{"patch', { status: 'denied', reason: null }),
      call('4', 'read', { path: 'a' }),
    ];
    const message = { ...assistant(''), parts: ['1', '2', '3', '4'].map(stored), invocations };
    const provider = bench.providerOf('openai', 'gpt-5.5');
    const { input } = await bodyOf(provider, [user('Go'), message, user('On')]);
    const custom = { type: 'custom_tool_call', name: 'apply_patch' };
    const output = expect.any(String) as unknown;
    expect(input.slice(2, -1)).toEqual([
      { ...custom, call_id: '1', input: PATCH },
      { ...custom, call_id: '2', input: '{"b":1,"a":"x"}' },
      { ...custom, call_id: '3', input: '{"patch' },
      { type: 'function_call', call_id: '4', name: 'read', arguments: '{"path":"a"}' },
      { type: 'custom_tool_call_output', call_id: '1', output: '{"files":["A a.txt"]}' },
      { type: 'custom_tool_call_output', call_id: '2', output: 'Wrong.' },
      { type: 'custom_tool_call_output', call_id: '3', output },
      { type: 'function_call_output', call_id: '4', output },
    ]);
    // Where the request offers no tools, as that for a summary, none of them is plain text.
    const without = await bodyOf(provider, [user('Go'), message, user('On')], []);
    expect(JSON.stringify(without)).not.toContain('custom_tool');
  });

  it('is JSON from then on where a server does not take it', async () => {
    const message = "Invalid value: 'custom'. Supported values are: 'function'.";
    bench.answers.push([400, JSON.stringify({ error: { message, param: 'tools[0].type', code: 'invalid_value' } })]);
    const provider = bench.providerOf('openai', 'gpt-5.5');
    const first = provider.stream({ ...requestOf(null, [user('Go')]), tools });
    await expect(first[Symbol.asyncIterator]().next()).rejects.toMatchObject({ retryable: true });
    const { tools: sent } = await bodyOf(provider, [user('Go')]);
    expect(sent?.map(({ type }) => type)).toEqual(['function', 'function']);
  });
});

describe('a stream that has a patch as plain text', () => {
  let server: ProviderServer;
  const folder = mkdtempSync(join(tmpdir(), 'freeform-'));
  beforeAll(async () => {
    server = await ProviderServer.start();
    const models = [{ id: 'm', provider: 'openai', model: 'gpt-5.5', baseUrl: server.url, apiKeyEnv: 'KEY' }];
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ models }));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  async function answer(said: ProviderAnswer, answerLength = 1e6): Promise<ModelAnswer & { pieces: ModelPart[] }> {
    server.script = () => said;
    const provider = new AiSdkProvider(readEnv({ CONFIG_FILE: join(folder, 'config.json'), KEY: 'k' }));
    const collector = new AnswerCollector({ answerLength, callsPerStep: 10 }, (id) => id);
    const pieces: ModelPart[] = [];
    for await (const part of provider.stream({ ...requestOf(null, [user('Go')]), tools })) {
      pieces.push(part);
      collector.add(part);
    }
    return { ...collector.result(), pieces };
  }
  const patch = { name: 'apply_patch', arguments: PATCH, freeform: true as const };

  it('is a call with one field, and its pieces are signs of life', async () => {
    const { calls, pieces } = await answer({
      text: 'I write.',
      calls: [patch, { name: 'read', arguments: '{"path":"a"}' }],
    });
    expect(calls).toMatchObject([
      { name: 'apply_patch', input: `{"patch":${TEXT}}` },
      { name: 'read', input: '{"path":"a"}' },
    ]);
    const lengths = pieces.flatMap((part) => (part.type === 'tool_input' ? [part.length] : []));
    expect(lengths).toEqual([20, PATCH.length - 20]);
  });

  it('is marked as cut off at the output limit', async () => {
    const cut = { ...patch, arguments: PATCH.slice(0, 40) };
    const incomplete = {
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { input_tokens: 30, output_tokens: 3 },
    };
    const { parts, calls } = await answer({
      calls: [cut],
      send: (response, events) => {
        const last = `data: ${JSON.stringify({ type: 'response.incomplete', response: incomplete })}\n\n`;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end([...events.slice(0, -1), last].join(''));
      },
    });
    expect(parts.at(-1)).toMatchObject({ type: 'tool', cut: true });
    expect(calls).toMatchObject([{ input: `{"patch":${JSON.stringify(cut.arguments)}}` }]);
  });

  it('ends when it does not end', async () => {
    await expect(answer({ calls: [patch] }, PATCH.length - 1)).rejects.toThrow('does not end');
  });
});
