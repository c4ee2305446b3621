// Servers that misbehave, in the protocol of each kind of provider: every call ends, and as reference §15 says.
import type { ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { registryOf, user } from '../../../test/harness/agent.js';
import {
  PROVIDER_KINDS,
  type ProviderAnswer,
  type ProviderKind,
  ProviderServer,
} from '../../../test/harness/provider-server.js';
import { readEnv } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { AiSdkProvider } from '../models/ai-sdk/ai-sdk-provider.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { EngineSettings } from './engine-settings.js';
import { ModelCaller } from './model-caller.js';

type Send = NonNullable<ProviderAnswer['send']>;

let server: ProviderServer;
let folder: string;
let caller: ModelCaller;
let settings: EngineSettings;

beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
beforeEach(async () => {
  server = await ProviderServer.start();
  folder = mkdtempSync(join(tmpdir(), 'streams-'));
  const path = join(folder, 'config.json');
  const models = PROVIDER_KINDS.map((kind) => ({ id: kind, provider: kind, baseUrl: server.url, apiKeyEnv: 'KEY' }));
  writeFileSync(path, JSON.stringify({ models }));
  const env = readEnv({ CONFIG_FILE: path, KEY: 'k' });
  const catalog = new ModelCatalog(env, registryOf([new AiSdkProvider(env)]));
  settings = Object.assign(new EngineSettings(), { backoffMs: 1, attempts: 2 });
  caller = new ModelCaller(catalog, settings, new Metrics());
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const ask = (modelId: ProviderKind) => {
  const { signal } = new AbortController();
  return caller.call({ modelId, effort: null, system: '', messages: [user('Go')], tools: [], signal }, (id) => id);
};
const GOOD = { text: 'A good answer.' };
const CALL = { text: 'I look.', calls: [{ name: 'read', arguments: '{"path": "a.txt"}' }] };
const begun = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).on('error', () => undefined);
const half = (events: string[]) => events.slice(0, Math.ceil(events.length / 2)).join('');
/** Sends until nobody listens, as fast as it is read. */
const endlessly = (response: ServerResponse, text: string) => {
  const more = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', more);
  more();
};

/** Sends the event that holds a text again and again. */
const withoutEnd =
  (text: string): Send =>
  (response, events) => {
    const at = events.findIndex((event) => event.includes(text));
    begun(response).write(events.slice(0, at).join(''));
    endlessly(response, (events[at] ?? '').repeat(100));
  };

const BROKEN = /broke off its answer|cannot be read|could not be reached|empty answer/;
const FAULTS: [string, Send][] = [
  ['breaks off', (to, events) => begun(to).write(half(events), () => to.destroy())],
  ['ends too early', (to, events) => begun(to).end(half(events))],
  ['is empty', (to) => begun(to).end()],
  ['says that it is over, and nothing else', (to) => begun(to).end('data: [DONE]\n\n')],
  ['has a line that is no JSON', (to, events) => begun(to).end(`${half(events)}data: {"nonsense\n\n`)],
  ['is a page', (to) => to.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')], // prettier-ignore
  ['is compressed, and broken', (to) => to.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end('nonsense')], // prettier-ignore
  ['is shorter than it says', (to) => to.writeHead(200, { 'content-length': '1000' }).write('data: ', () => to.destroy())], // prettier-ignore
];

describe.each(PROVIDER_KINDS)('a stream of %s', (kind) => {
  it.each(FAULTS)('that %s is asked for again, and then a good one is taken', async (_, send) => {
    server.script = () => (server.requests.length === 1 ? { ...CALL, send } : GOOD);
    const { parts, calls } = await ask(kind);
    expect(server.requests).toHaveLength(2);
    // Nothing of the failed try is left.
    expect([parts.findLast(({ type }) => type === 'text'), calls]).toMatchObject([GOOD, []]);
    server.requests.length = 0;
    server.script = () => ({ ...CALL, send });
    await expect(ask(kind)).rejects.toMatchObject({
      retryable: true,
      message: expect.stringMatching(BROKEN) as unknown,
    });
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, Send]>([
    ['stalls', (to, events) => begun(to).write(half(events))],
    ['never begins', (to) => begun(to).flushHeaders()],
    ['has no head', () => undefined],
    ['sends signs of life and nothing else', (to) => endlessly(begun(to), ': ping\n\n'.repeat(1_000))],
  ])('that %s is given up as silent', async (_, send) => {
    [settings.idleMs, settings.attempts] = [250, 1];
    server.script = () => ({ ...CALL, send });
    await expect(ask(kind)).rejects.toMatchObject({
      retryable: true,
      message: 'The model was silent for 0.25 seconds.',
    });
    // On a busy machine the time is over before the request has come.
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  it('that says one thing without an end is given up', async () => {
    settings.answerLength = 100_000;
    server.script = () => ({ ...GOOD, send: withoutEnd('A good answer.') });
    await expect(ask(kind)).rejects.toMatchObject({
      retryable: false,
      message: 'The answer of the model does not end.',
    });
    expect(server.requests).toHaveLength(1);
  });

  it('that says everything twice ends', async () => {
    server.script = () => ({ ...GOOD, send: (to, events) => begun(to).end([...events, ...events].join('')) });
    const answer = await ask(kind).catch((error: unknown) => error);
    expect(answer).toEqual(expect.objectContaining({ calls: [] }));
  });
});

it.each<ProviderKind>(['anthropic', 'openai-compatible'])(
  'a call of %s whose arguments do not end is given up while it is written',
  async (kind) => {
    settings.answerLength = 100_000;
    const text = 'a'.repeat(100);
    server.script = () => ({ calls: [{ name: 'read', arguments: `{"path": "${text}` }], send: withoutEnd(text) });
    await expect(ask(kind)).rejects.toMatchObject({
      retryable: false,
      message: 'The answer of the model does not end.',
    });
  },
);

it.each(PROVIDER_KINDS)('an error of %s whose text does not end is what its status says', async (kind) => {
  const send: Send = (to) => endlessly(to.writeHead(429, { 'retry-after': '0' }), 'Slow down. '.repeat(1_000));
  server.script = () => (server.requests.length === 1 ? { send } : GOOD);
  expect((await ask(kind)).parts.at(-1)).toMatchObject(GOOD);
  server.script = () => ({ send });
  await expect(ask(kind)).rejects.toMatchObject({ code: 'model_overloaded', retryable: true });
});

describe('a stream in the manner of OpenAI without a reason for its end', () => {
  const unreasoned = (events: string[]) =>
    events.map((event) => event.replace(/"finish_reason":"\w+"/, '"finish_reason":null'));

  it.each(['data: [DONE]\n\n', 'data:[DONE]\r\n\r\n', 'data: [DONE]'])('is whole when it says %j', async (end) => {
    server.script = () => ({ ...CALL, send: (to, events) => begun(to).end(unreasoned(events).join('') + end) });
    expect(await ask('openai-compatible')).toMatchObject({ calls: [{ name: 'read' }], failure: null });
    server.script = () => ({ ...GOOD, send: (to, events) => begun(to).end(unreasoned(events).join('') + end) });
    expect((await ask('openai-compatible')).parts.at(-1)).toMatchObject(GOOD);
    expect(server.requests).toHaveLength(2);
  });

  it('broke off when it does not, or when an error comes before it', async () => {
    const text = 'It ends with\ndata: [DONE]';
    const error = 'data: {"error": {"message": "The server is gone."}}\n\ndata: [DONE]\n\n';
    for (const end of ['', error]) {
      server.script = () => ({ text, send: (to, events) => begun(to).end(unreasoned(events).join('') + end) });
      await expect(ask('openai-compatible')).rejects.toMatchObject({ retryable: true });
    }
    expect(server.requests).toHaveLength(4);
  });
});
