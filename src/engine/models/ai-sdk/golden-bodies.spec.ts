import { assistant, call, user } from '../../../../test/harness/agent.js';
import { AWS, ProviderBench, requestOf, type SentRequest } from '../../../../test/harness/provider-bench.js';
import type { ConversationMessage } from '../conversation.js';
import type { Effort } from '../model-provider.js';
import type { AiSdkProvider } from './ai-sdk-provider.js';

type Json = Record<string, unknown>;

let bench: ProviderBench;
beforeAll(async () => {
  bench = await ProviderBench.start();
});
afterAll(() => bench.close());

/** All that is neither the conversation nor the tools. */
function settingsOf({ body }: SentRequest): Json {
  const { messages: _m, system: _s, input: _i, contents: _c, systemInstruction: _y, tools: _t, ...rest } = body;
  const { toolConfig: _o, ...settings } = rest;
  return settings;
}

const adaptive = { type: 'adaptive', display: 'summarized' };
const binding = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const claude = (model: string, more: Json, max_tokens = 128_000) => ({ model, max_tokens, stream: true, ...more });
const gpt = (model: string, more: Json) => {
  return { model, stream: true, store: false, prompt_cache_key: 'task-1', ...more };
};
const sealed = { include: ['reasoning.encrypted_content'] };

describe('the body of each family of models', () => {
  it.each<[string, string, Effort | null, Json]>([
    ['anthropic', 'claude-3-haiku-20240307', 'low', claude('claude-3-haiku-20240307', {}, 4_096)],
    ['anthropic', 'claude-sonnet-4-5', null, claude('claude-sonnet-4-5', {}, 64_000)],
    [
      'anthropic',
      'claude-sonnet-4-5',
      'low',
      claude('claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 4_000 } }, 64_000),
    ],
    [
      'anthropic',
      'claude-opus-4-5',
      'medium',
      claude(
        'claude-opus-4-5',
        { thinking: { type: 'enabled', budget_tokens: 12_000 }, output_config: { effort: 'medium' } },
        64_000,
      ),
    ],
    ['anthropic', 'claude-sonnet-4-6', null, claude('claude-sonnet-4-6', { thinking: adaptive })],
    [
      'anthropic',
      'claude-opus-4-8',
      'high',
      claude('claude-opus-4-8', { thinking: adaptive, output_config: { effort: 'high' } }),
    ],
    ['anthropic', 'claude-sonnet-5-5', null, claude('claude-sonnet-5-5', { thinking: { ...adaptive, ...binding } })],
    [
      'anthropic',
      'claude-opus-5-5',
      'low',
      claude('claude-opus-5-5', { thinking: { ...adaptive, ...binding }, output_config: { effort: 'low' } }),
    ],
    ['anthropic', 'other-coder', null, claude('other-coder', {}, 4_096)],
    ['openai', 'gpt-4.1', null, gpt('gpt-4.1', {})],
    ['openai', 'gpt-5.5', null, gpt('gpt-5.5', { ...sealed, reasoning: { summary: 'auto' } })],
    ['openai', 'gpt-5-mini', 'low', gpt('gpt-5-mini', { ...sealed, reasoning: { effort: 'low', summary: 'auto' } })],
    ['openai', 'o4-mini', null, gpt('o4-mini', { ...sealed, reasoning: { summary: 'auto' } })],
    ['google', 'gemini-2.0-flash', null, { generationConfig: {} }],
    ['google', 'gemini-2.5-pro', null, { generationConfig: { thinkingConfig: { includeThoughts: true } } }],
    [
      'google',
      'gemini-2.5-pro',
      'low',
      { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 4_000 } } },
    ],
    [
      'google',
      'gemini-3-pro-preview',
      'high',
      { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } },
    ],
    ['google', 'gemini-pro-latest', null, { generationConfig: { thinkingConfig: { includeThoughts: true } } }],
    ['openai-compatible', 'qwen', null, { model: 'qwen', stream: true, stream_options: { include_usage: true } }],
    [
      'openai-compatible',
      'qwen',
      'medium',
      { model: 'qwen', stream: true, stream_options: { include_usage: true }, reasoning_effort: 'medium' },
    ],
    [
      'amazon-bedrock',
      'eu.anthropic.claude-sonnet-5-5',
      'low',
      {
        anthropic_version: 'bedrock-2023-05-31',
        anthropic_beta: expect.arrayContaining(['thinking-binding-controls-2026-08-01']),
        max_tokens: 128_000,
        thinking: { ...adaptive, ...binding },
        output_config: { effort: 'low' },
      },
    ],
    ['amazon-bedrock', 'eu.amazon.nova-pro-v1:0', null, {}],
    ['amazon-bedrock', 'openai.gpt-oss-120b-1:0', 'low', { additionalModelRequestFields: { reasoning_effort: 'low' } }],
  ])('%s, %s, effort %s', async (provider, model, effort, expected) => {
    const variables = provider === 'amazon-bedrock' ? AWS : { KEY: 'k' };
    expect(settingsOf(await bench.sent(bench.providerOf(provider, model, variables), effort))).toEqual(expected);
  });

  it('of Claude names the interfaces that its settings need', async () => {
    const { headers } = await bench.sent(bench.providerOf('anthropic', 'claude-sonnet-5-5'), null);
    expect(headers['anthropic-beta']).toContain('thinking-binding-controls-2026-08-01');
  });
});

describe('what a provider is to keep of the prompt', () => {
  const one = assistant('', call('1', 'read', {}, { status: 'error', error: 'No.' }));
  const two = assistant('', call('2', 'read', {}, { status: 'error', error: 'No.' }));
  const conversation: ConversationMessage[] = [user('Go'), one, user('Also'), two];
  const marked = (text: string, mark: string) => text.split(mark).length - 1;

  it('is marked for Claude at the instructions, at the end of the request before, and at the new end', async () => {
    for (const provider of [
      bench.providerOf('anthropic', 'claude-sonnet-5-5'),
      bench.providerOf('amazon-bedrock', 'anthropic.claude-sonnet-5-5', AWS),
    ]) {
      const { body } = await bench.sent(provider, null, conversation);
      const cache_control = { type: 'ephemeral' };
      const { system, messages } = body as { system: Json[]; messages: { role: string; content: Json[] }[] };
      expect(system).toEqual([{ type: 'text', text: 'System.', cache_control }]);
      const places = messages.map(({ content }) => content.map((block) => block['cache_control'] !== undefined));
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
      // The results and the message behind them are one message of the interface.
      expect(places).toEqual([[false], [false], [false, true], [false], [true]]);
      expect(marked(JSON.stringify(body), 'cache_control')).toBe(3);
    }
  });

  it('is marked for Nova, and for no other model of Bedrock or elsewhere', async () => {
    const marksOf = async (provider: AiSdkProvider) =>
      marked(JSON.stringify((await bench.sent(provider, null, conversation)).body), 'cachePoint');
    expect(await marksOf(bench.providerOf('amazon-bedrock', 'amazon.nova-pro-v1:0', AWS))).toBe(3);
    expect(await marksOf(bench.providerOf('amazon-bedrock', 'meta.llama3-3-70b-instruct-v1:0', AWS))).toBe(0);
    expect(await marksOf(bench.providerOf('openai-compatible', 'qwen'))).toBe(0);
  });
});

describe('what only the model that made it can read', () => {
  const by = 'anthropic/claude-sonnet-5-5';
  const answer: ConversationMessage = {
    ...assistant('Fine.'),
    parts: [
      {
        type: 'reasoning',
        text: 'Hm.',
        providerMetadata: { anthropic: { signature: 'sealed' }, millwright: { by } },
      },
      { type: 'text', text: 'Fine.' },
    ],
  };
  const bodyOf = async (model: string) =>
    JSON.stringify(
      (await bench.sent(bench.providerOf('anthropic', model), null, [user('Go'), answer, user('On')])).body,
    );

  it('goes back to it, without the note of the service, and to no other', async () => {
    const own = await bodyOf('claude-sonnet-5-5');
    expect(own).toContain('"signature":"sealed"');
    const other = await bodyOf('claude-opus-5-5');
    expect(other).not.toMatch(/sealed|Hm\./);
    expect(other).toContain('Fine.');
    expect(own + other).not.toContain('millwright');
  });
});

describe('summaries of reasoning that OpenAI does not give', () => {
  it('are asked for once: the call is tried again without them, and those after it too', async () => {
    const message = 'Your organization must be verified to generate reasoning summaries.';
    bench.answers.push([
      400,
      JSON.stringify({ error: { message, param: 'reasoning.summary', code: 'unsupported_value' } }),
    ]);
    const provider = bench.providerOf('openai', 'gpt-5.5');
    const first = provider.stream(requestOf(null, [user('Go')]));
    await expect(first[Symbol.asyncIterator]().next()).rejects.toMatchObject({ retryable: true });
    expect(bench.requests.at(-1)?.body).toMatchObject({ reasoning: { summary: 'auto' } });
    expect((await bench.sent(provider, null)).body['reasoning']).toBeUndefined();
    expect((await bench.sent(provider, 'low')).body['reasoning']).toEqual({ effort: 'low' });
  });
});
