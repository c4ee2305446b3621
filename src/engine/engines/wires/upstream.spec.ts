import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeModel } from '../../../../test/harness/engines/fake-model.js';
import type { ModelError } from '../../models/model-provider.js';
import { callUpstream } from './upstream.js';
import { WIRE_NAMES, type WireName } from './wire.js';
import { WIRES } from './wires.js';

const NEVER = new AbortController().signal;
const BODY = { model: 'real', stream: true, messages: [], input: [] };

async function read(baseUrl: string, name: WireName, signal = NEVER) {
  const provider = name === 'anthropic-messages' ? 'anthropic' : 'openai';
  const { contentType, body } = await callUpstream(
    { provider, baseUrl, apiKey: 'k' },
    WIRES[name],
    { body: BODY },
    signal,
  );
  const reader = WIRES[name].answer(contentType);
  for await (const chunk of body) reader.add(chunk);
  return reader.end();
}

async function serving<T>(handle: RequestListener, act: (baseUrl: string) => Promise<T>): Promise<T> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  try {
    return await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const failing = (handle: RequestListener, name: WireName = 'openai-chat') =>
  serving(handle, async (url) => (await read(url, name).catch((error: unknown) => error)) as ModelError);

describe.each(WIRE_NAMES)('a call of %s', (name) => {
  it('finds its path, and the answer is read', async () => {
    const model = await FakeModel.start(() => ({ text: 'Hello', reasoning: 'So.' }));
    try {
      expect(await read(`${model.url}/`, name)).toMatchObject({ text: 'Hello', reasoning: 'So.', complete: true });
      expect(model.requests).toMatchObject([{ wire: name, body: BODY }]);
    } finally {
      await model.stop();
    }
  });

  it('that breaks off in the middle of the answer may go well at the next try', async () => {
    const model = await FakeModel.start(() => ({ text: 'Hello '.repeat(20), breakOff: true }));
    try {
      await expect(read(model.url, name)).rejects.toMatchObject({ name: 'ModelError', retryable: true });
    } finally {
      await model.stop();
    }
  });

  it('ends with what aborted it, before the answer and within', async () => {
    for (const answer of [{ hang: true }, { text: 'Hello '.repeat(20), stall: true }]) {
      const abort = new AbortController();
      const model = await FakeModel.start(() => {
        setTimeout(() => abort.abort(new Error('cancelled')), 20);
        return answer;
      });
      try {
        await expect(read(model.url, name, abort.signal)).rejects.toThrow('cancelled');
      } finally {
        await model.stop();
      }
    }
  });
});

it.each([
  ['anthropic', 'anthropic-messages', { 'x-api-key': 'secret', 'anthropic-version': '2023-06-01' }],
  ['openai', 'openai-responses', { authorization: 'Bearer secret' }],
  ['openai-compatible', 'openai-chat', { authorization: 'Bearer secret' }],
] as const)('%s is called with its key in its header', async (provider, name, expected) => {
  const model = await FakeModel.start(() => ({}));
  try {
    const about = { provider, baseUrl: model.url, apiKey: 'secret' };
    await callUpstream(
      about,
      WIRES[name],
      { body: BODY, headers: { authorization: 'none', 'x-api-key': 'none' } },
      NEVER,
    );
    expect(model.requests[0]?.headers).toMatchObject(expected);
    expect(JSON.stringify(model.requests[0]?.headers)).not.toContain('none');
  } finally {
    await model.stop();
  }
});

it('passes on what the program says of features of its wire, and no other header', async () => {
  const model = await FakeModel.start(() => ({}));
  try {
    const headers = {
      'anthropic-beta': 'effort-2025-11-24',
      'anthropic-version': '2024-01-01',
      cookie: 'a=1',
      'x-app': 'cli',
    };
    const about = { provider: 'anthropic', baseUrl: model.url, apiKey: undefined } as const;
    await callUpstream(about, WIRES['anthropic-messages'], { body: BODY, headers }, NEVER);
    const sent = model.requests[0]?.headers;
    expect(sent).toMatchObject({ 'anthropic-beta': 'effort-2025-11-24', 'anthropic-version': '2024-01-01' });
    expect(Object.keys(sent ?? {})).not.toEqual(expect.arrayContaining(['cookie']));
    expect(sent).not.toHaveProperty('x-app');
  } finally {
    await model.stop();
  }
});

it('follows no redirect', async () => {
  const asked: string[] = [];
  const error = await failing((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect(error).toMatchObject({ message: expect.stringMatching(/redirects elsewhere/), retryable: false });
  expect(asked).toEqual(['/v1/chat/completions']);
});

it.each([
  [429, { 'retry-after': '7' }, '{}', { code: 'model_overloaded', retryable: true, retryAfterMs: 7_000 }],
  [529, {}, '{}', { code: 'model_overloaded', retryable: true }],
  [401, {}, '{}', { code: 'model_credentials', retryable: false }],
  [404, {}, '{}', { code: 'model_gone', retryable: false }],
  [400, {}, '{"error":{"message":"Unknown parameter"}}', { code: 'model_error', retryable: false }],
  [400, {}, '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}', { contextWindow: 8 }],
])('tells %i %j %s as the loop does', async (status, headers, body, expected) => {
  const error = await failing((_, response) => response.writeHead(status, headers as Record<string, string>).end(body));
  expect(error).toMatchObject(expected);
});

it('says that a provider cannot be reached', async () => {
  const gone = await serving(
    () => undefined,
    (url) => Promise.resolve(url),
  );
  await expect(read(gone, 'openai-chat')).rejects.toMatchObject({ code: 'model_overloaded', retryable: true });
});
