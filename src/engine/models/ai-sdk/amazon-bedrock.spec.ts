import { crc32 } from 'node:zlib';
import { user } from '../../../../test/harness/agent.js';
import { AWS, ProviderBench, requestOf } from '../../../../test/harness/provider-bench.js';
import { AnswerCollector } from '../../agent/model-answer.js';

let bench: ProviderBench;
beforeAll(async () => {
  bench = await ProviderBench.start();
});
afterAll(() => bench.close());

describe('Amazon Bedrock', () => {
  it.each([
    ['anthropic.claude-sonnet-5-5', '/model/anthropic.claude-sonnet-5-5/invoke-with-response-stream'],
    ['amazon.nova-pro-v1:0', '/model/amazon.nova-pro-v1%3A0/converse-stream'],
  ])('%s is asked with a signature for the region, or with a key of Bedrock', async (model, path) => {
    const signed = await bench.sent(bench.providerOf('amazon-bedrock', model, AWS), null);
    expect(signed.path).toBe(path);
    expect(signed.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID\/\d+\/eu-central-1\/bedrock\//);
    const keyed = await bench.sent(bench.providerOf('amazon-bedrock', model, { KEY: 'bedrock-key' }), null);
    expect([keyed.path, keyed.headers.authorization]).toEqual([path, 'Bearer bedrock-key']);
  });
});

describe('an answer of Amazon Bedrock', () => {
  /** One event as AWS sends it: lengths, a checksum, the headers, the JSON, a checksum. */
  function frame(type: string, data: object): Buffer {
    const header = (name: string, value: string) => {
      const length = Buffer.alloc(3);
      length.writeUInt8(7, 0);
      length.writeUInt16BE(value.length, 1);
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), length, Buffer.from(value)]);
    };
    const headers = Buffer.concat([header(':event-type', type), header(':message-type', 'event')]);
    const payload = Buffer.from(JSON.stringify(data));
    const prelude = Buffer.alloc(12);
    prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
    prelude.writeUInt32BE(headers.length, 4);
    prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
    const message = Buffer.concat([prelude, headers, payload]);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(message), 0);
    return Buffer.concat([message, checksum]);
  }
  const base64 = (event: object) => ({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') });
  const usage = { input_tokens: 7, output_tokens: 2 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null, usage };

  it.each([
    [
      'amazon.nova-pro-v1:0',
      [
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello.' } }),
        frame('contentBlockStop', { contentBlockIndex: 0 }),
        frame('messageStop', { stopReason: 'end_turn' }),
        frame('metadata', { usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } }),
      ],
    ],
    [
      'anthropic.claude-sonnet-5-5',
      [
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ].map((event) => frame('chunk', base64(event))),
    ],
  ])('%s is read', async (model, frames) => {
    bench.answers.push([200, Buffer.concat(frames)]);
    const collector = new AnswerCollector({ answerLength: 100, callsPerStep: 1 }, (id) => id);
    const stream = bench.providerOf('amazon-bedrock', model, AWS).stream(requestOf(null, [user('Go')]));
    for await (const part of stream) collector.add(part);
    expect(collector.result()).toMatchObject({
      parts: [{ type: 'step_start' }, { type: 'text', text: 'Hello.' }],
      usage: { inputTokens: 7, outputTokens: 2 },
    });
  });

  it.each([
    [403, 'UnrecognizedClientException: The security token included in the request is invalid.', 'model_credentials'],
    [400, 'The provided model identifier is invalid.', 'model_gone'],
    [429, 'Too many requests, please wait before trying again.', 'model_overloaded'],
    [503, 'Bedrock is unable to process your request.', 'model_overloaded'],
  ])('%i is told by its words: %s', async (status, words, code) => {
    for (const model of ['amazon.nova-pro-v1:0', 'anthropic.claude-sonnet-5-5']) {
      bench.answers.push([status, JSON.stringify({ message: words })]);
      const first = bench
        .providerOf('amazon-bedrock', model, AWS)
        .stream(requestOf(null, [user('Go')]))
        [Symbol.asyncIterator]();
      await expect(first.next()).rejects.toMatchObject({ code });
    }
  });
});
