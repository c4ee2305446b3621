import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assistant, call, user } from '../../../../test/harness/agent.js';
import { AnswerCollector } from '../../agent/model-answer.js';
import { readEnv } from '../../../platform/config/env.js';
import { AiSdkProvider } from './ai-sdk-provider.js';
import { toPrompt } from './ai-sdk-prompt.js';
import type { ConversationMessage } from '../conversation.js';
import type { Effort } from '../model-provider.js';

describe('the prompt', () => {
  const roles = (messages: ConversationMessage[]) => toPrompt('System.', messages).map((message) => message.role);

  it('puts the results of a step behind its calls', () => {
    const done = assistant(
      'Look.',
      call('1', 'read', { path: 'a' }, { status: 'success', output: 'text' }),
      call('2', 'bash', { command: 'b' }, { status: 'success', output: { exitCode: 1 } }),
      call('3', 'bash', '{"command', { status: 'error', error: 'No JSON.' }),
      call('4', 'write', {}, { status: 'denied', reason: 'Too early.' }),
      call('5', 'odd name!', {}),
    );
    const prompt = toPrompt('System.', [user('Go'), done, user('On'), user('and on')]);
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'user']);
    expect(prompt[2]?.content).toMatchObject([
      { type: 'text', text: 'Look.' },
      { type: 'tool-call', toolCallId: '1', toolName: 'read', input: { path: 'a' } },
      { type: 'tool-call', toolCallId: '2' },
      { type: 'tool-call', toolCallId: '3', input: { unreadable: '{"command' } },
      { type: 'tool-call', toolCallId: '4' },
      { type: 'tool-call', toolCallId: '5', toolName: 'odd_name_' },
    ]);
    expect(prompt[3]?.content).toMatchObject([
      { toolCallId: '1', toolName: 'read', output: { type: 'text', value: 'text' } },
      { toolCallId: '2', output: { type: 'text', value: 'exitCode: 1' } },
      { toolCallId: '3', output: { type: 'error-text', value: 'No JSON.' } },
      {
        toolCallId: '4',
        output: { type: 'execution-denied', reason: expect.stringContaining('Too early.') as unknown },
      },
      { toolCallId: '5', output: { type: 'error-text', value: expect.stringContaining('given up') as unknown } },
    ]);
  });

  it('names attached files and leaves out what says nothing', () => {
    const file = {
      type: 'file' as const,
      fileId: 'f',
      name: 'a.png',
      mediaType: 'image/png',
      path: 'attachments/a.png',
    };
    const messages = [user('', { parts: [file] }), user(''), assistant(''), user('Go')];
    expect(roles(messages)).toEqual(['system', 'user', 'user']);
    expect(toPrompt('', messages)[1]?.content).toMatchObject([
      { text: '[Attached file, in the workdir: attachments/a.png (image/png)]' },
    ]);
  });

  it('gives a provider back what it gave', () => {
    const providerMetadata = { anthropic: { signature: 'abc' } };
    const message = { ...assistant(''), parts: [{ type: 'reasoning' as const, text: '', providerMetadata }] };
    expect(toPrompt('', [user('Go'), message, user('On')])[2]?.content).toEqual([
      { type: 'reasoning', text: '', providerOptions: providerMetadata },
    ]);
  });
});

// What the providers send, as their documentation shows it; the packages themselves parse it.
const ANTHROPIC = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 30, cache_read_input_tokens: 70, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sealed' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'look.' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"path":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"a"}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
];
const OPENAI = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt-5.5' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Hm.' },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
  },
  { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id: 'msg_1' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'I look.' },
  { type: 'response.output_item.done', output_index: 1, item: { type: 'message', id: 'msg_1' } },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'toolu_1', name: 'read', arguments: '' },
  },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'toolu_1',
      name: 'read',
      arguments: '{"path":"a"}',
      status: 'completed',
    },
  },
  {
    type: 'response.completed',
    response: {
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 70 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 4 },
      },
    },
  },
];
const GOOGLE = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm.', thought: true, thoughtSignature: 'sealed' }] } }] },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'I look.' },
            { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'sealed' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 70,
      candidatesTokenCount: 16,
      thoughtsTokenCount: 4,
      totalTokenCount: 120,
    },
  },
];

describe('each provider', () => {
  let server: Server;
  let events: object[];
  let bodies: Record<string, unknown>[];
  let folder: string;

  beforeEach(async () => {
    bodies = [];
    folder = mkdtempSync(join(tmpdir(), 'provider-'));
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        bodies.push(JSON.parse(text) as Record<string, unknown>);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(folder, { recursive: true });
  });

  function providerFor(provider: string, model: string): AiSdkProvider {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify({ models: [{ id: 'm', provider, model, baseUrl, apiKeyEnv: 'KEY' }] }));
    return new AiSdkProvider(readEnv({ CONFIG_FILE: file, KEY: 'k' }));
  }

  async function answer(provider: AiSdkProvider, messages: ConversationMessage[], effort: Effort | null) {
    const collector = new AnswerCollector({ answerLength: 1e6, callsPerStep: 10 }, (id) => id);
    const tools = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } }];
    const { signal } = new AbortController();
    const request = { modelId: 'm', effort, system: 'System.', messages, tools, signal };
    for await (const part of provider.stream(request)) collector.add(part);
    return collector.result();
  }

  it.each([
    ['anthropic', 'claude-sonnet-5-5', ANTHROPIC, { output_config: { effort: 'low' } }],
    ['anthropic', 'claude-sonnet-4-5', ANTHROPIC, { thinking: { type: 'enabled', budget_tokens: 4_000 } }],
    ['openai', 'gpt-5.5', OPENAI, { store: false, reasoning: { effort: 'low' } }],
    ['google', 'gemini-pro-latest', GOOGLE, { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } }],
    ['google', 'gemini-2.5-pro', GOOGLE, { generationConfig: { thinkingConfig: { thinkingBudget: 4_000 } } }],
  ])('%s (%s) answers, and gets its sealed reasoning back', async (name, model, sent, effort) => {
    events = sent;
    const provider = providerFor(name, model);
    const { parts, calls, usage } = await answer(provider, [user('Go')], 'low');
    expect(parts).toMatchObject([
      { type: 'step_start' },
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool' },
    ]);
    expect(calls).toMatchObject([{ name: 'read', input: '{"path":"a"}' }]);
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 70 });
    expect(bodies[0]).toMatchObject(effort);

    const [one] = calls;
    const result = { status: 'success' as const, output: 'text' };
    const invocations = [call(one?.toolCallId ?? '', 'read', { path: 'a' }, result)];
    // As the database gives it back.
    const stored = JSON.parse(JSON.stringify(parts)) as ConversationMessage['parts'];
    await answer(provider, [user('Go'), { id: 'a', role: 'assistant', parts: stored, invocations }], null);
    expect(JSON.stringify(bodies[1])).toContain('sealed');
    expect(JSON.stringify(bodies[1])).not.toMatch(/"(effort|budget_tokens|thinkingLevel|thinkingBudget)"/);
  });

  it.each([
    ['anthropic', 'claude-sonnet-5-5'],
    ['openai', 'gpt-5.5'],
    ['google', 'gemini-pro-latest'],
    ['openai-compatible', 'any'],
  ])(
    '%s redirects: nothing of the conversation or the key goes elsewhere, and the message says so',
    async (name, model) => {
      const visits: string[] = [];
      const elsewhere = createServer((request, response) => {
        visits.push(`${request.method} ${request.url}`);
        response.writeHead(500).end();
      });
      await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
      const { port } = elsewhere.address() as AddressInfo;
      try {
        for (const status of [301, 302, 303, 307, 308]) {
          server.removeAllListeners('request');
          server.on('request', (_request, response: ServerResponse) => {
            response.writeHead(status, { Location: `http://127.0.0.1:${port}/stolen` }).end('moved to a secret place');
          });
          const refusal = answer(providerFor(name, model), [user('Go')], null);
          await expect(refusal).rejects.toMatchObject({
            message: `The model's provider answered ${status} (it redirects elsewhere, which the service does not follow).`,
            retryable: false,
          });
        }
        expect(visits).toEqual([]);
      } finally {
        elsewhere.closeAllConnections();
        await new Promise((done) => elsewhere.close(done));
      }
    },
  );
});
