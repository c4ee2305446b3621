import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { registryOf, user } from '../../../test/harness/agent.js';
import { type Answer, ModelServer } from '../../../test/harness/model-server.js';
import { readEnv } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { AiSdkProvider } from '../models/ai-sdk/ai-sdk-provider.js';
import { ModelCatalog } from '../models/model-catalog.js';
import type { Refusal } from '../models/model-health.js';
import type { Effort } from '../models/model-provider.js';
import { EngineSettings } from './engine-settings.js';
import { ModelCaller } from './model-caller.js';

let server: ModelServer;
let folder: string;
let catalog: ModelCatalog;
let caller: ModelCaller;
let told: [string, Refusal | null][];
/** What the main model answers now; the spare one, and the last resort, answer with their names. */
let main: Answer;
let spare: Answer;

beforeEach(async () => {
  Logger.overrideLogger(false);
  [main, spare] = [{ text: 'main' }, { text: 'spare' }];
  server = await ModelServer.start(({ model }) => ({ main, spare })[model] ?? { text: model });
  folder = mkdtempSync(join(tmpdir(), 'fallback-'));
  const path = join(folder, 'config.json');
  const common = { provider: 'openai-compatible', baseUrl: server.url };
  const models = [
    { ...common, id: 'main', fallback: 'spare', efforts: ['low', 'high'] },
    { ...common, id: 'spare', fallback: 'last', efforts: ['medium'], defaultEffort: 'medium' },
    { ...common, id: 'last', efforts: ['high'] },
    { ...common, id: 'alone', model: 'main' },
  ];
  writeFileSync(path, JSON.stringify({ models }));
  const env = readEnv({ CONFIG_FILE: path });
  catalog = new ModelCatalog(env, registryOf([new AiSdkProvider(env)]));
  told = [];
  catalog.health.onChange = (...news) => told.push(news);
  const settings = Object.assign(new EngineSettings(), { backoffMs: 1, attempts: 2 });
  caller = new ModelCaller(catalog, settings, new Metrics());
});
afterEach(async () => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
  await server.stop();
  rmSync(folder, { recursive: true });
});

const ask = (modelId: string, effort: Effort | null = null) => {
  const { signal } = new AbortController();
  return caller.call({ modelId, effort, system: '', messages: [user('Go')], tools: [], signal }, (id) => id);
};
const asked = () => server.requests.map(({ body }) => body.model);
const status = (id: string) => catalog.find(id)?.status;
const quota = { status: 429, body: '{"error":{"message":"no","code":"insufficient_quota"}}' };

describe('the fallback of a model', () => {
  it.each<[string, Answer, string[], string]>([
    ['is overloaded', { status: 529 }, ['main', 'main', 'spare'], 'model_overloaded'],
    ['fails', { status: 500 }, ['main', 'main', 'spare'], 'model_error'],
    ['breaks off', { text: 'x'.repeat(99), breakOff: true }, ['main', 'main', 'spare'], 'model_error'],
    ['says nothing', {}, ['main', 'main', 'spare'], 'model_error'],
    ['refuses the key', { status: 401 }, ['main', 'spare'], 'model_credentials'],
    ['is gone', { status: 404 }, ['main', 'spare'], 'model_gone'],
    ['is out of money', quota, ['main', 'spare'], 'model_quota'],
  ])('is asked after the tries when the model %s, and the record says so', async (_, answer, models, code) => {
    main = answer;
    const { model, parts } = await ask('main');
    expect(model).toBe('spare');
    expect(parts).toMatchObject([
      { type: 'step_start' },
      { type: 'data', name: 'fallback', id: expect.any(String), data: { from: 'main', to: 'spare', code } },
      { type: 'text', text: 'spare' },
    ]);
    expect(asked()).toEqual(models);
  });

  it.each<[string, Answer]>([
    ['refuses what is in the request', { status: 400 }],
    ['cannot read so long a conversation', { status: 400, body: '{"error":{"message":"maximum context length"}}' }],
  ])('is not asked when the model %s', async (_, answer) => {
    main = answer;
    await expect(ask('main')).rejects.toMatchObject({ code: 'model_error', retryable: false });
    expect(asked()).toEqual(['main']);
  });

  it('has a fallback of its own; the effort is one that the model takes', async () => {
    [main, spare] = [{ status: 401 }, { status: 401 }];
    expect(await ask('main', 'high')).toMatchObject({ model: 'last' });
    const efforts = server.requests.map(({ body }) => body.reasoning_effort);
    expect([asked(), efforts]).toEqual([
      ['main', 'spare', 'last'],
      ['high', 'medium', 'high'],
    ]);
  });

  it('fails with the reason of the model that was asked for', async () => {
    catalog.health.hear('last', { code: 'model_gone', message: 'Gone.' });
    [main, spare] = [quota, { status: 401 }];
    await expect(ask('main')).rejects.toMatchObject({ code: 'model_quota' });
  });

  it('takes over at once while the model is overloaded, which is no reason to show it as unavailable', async () => {
    main = { status: 503 };
    await ask('main');
    main = { text: 'main' };
    expect((await ask('main')).model).toBe('spare');
    expect(asked()).toEqual(['main', 'main', 'spare', 'spare']);
    expect([status('main'), told]).toEqual(['available', []]);
    // Without a fallback it is called.
    expect((await ask('alone')).model).toBe('alone');
    catalog.health.pauseMs = 0;
    main = { status: 503 };
    catalog.health.succeeded('main');
    await ask('main');
    main = { text: 'main' };
    expect((await ask('main')).model).toBe('main');
  });
});

describe('a model that cannot be called', () => {
  it.each<[string, Answer]>([
    ['model_credentials', { status: 401 }],
    ['model_gone', { status: 404 }],
    ['model_quota', quota],
  ])('(%s) is unavailable, and is not called, until one call each minute succeeds', async (code, answer) => {
    main = answer;
    await expect(ask('alone')).rejects.toMatchObject({ code, retryable: false });
    await expect(ask('alone')).rejects.toMatchObject({ code, retryable: false });
    expect([status('alone'), asked()]).toEqual(['unavailable', ['main']]);
    catalog.health.pauseMs = 0;
    catalog.health.hear('alone', told[0]?.[1] ?? null);
    await expect(ask('alone')).rejects.toMatchObject({ code });
    expect([status('alone'), asked()]).toEqual(['unavailable', ['main', 'main']]);
    main = { text: 'main' };
    expect((await ask('alone')).model).toBe('alone');
    expect([status('alone'), status('main')]).toEqual(['available', 'available']);
    expect(told.map(([id, refusal]) => [id, refusal?.code])).toEqual([
      ['alone', code],
      ['alone', code],
      ['alone', undefined],
    ]);
  });

  it('lets one of many through after the pause', async () => {
    catalog.health.pauseMs = 0;
    catalog.health.hear('alone', { code: 'model_gone', message: 'Gone.' });
    catalog.health.pauseMs = 60_000;
    const outcomes = await Promise.allSettled([ask('alone'), ask('alone'), ask('alone')]);
    expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(asked()).toEqual(['main']);
  });

  it.each([{ status: 400 }, { status: 403 }, { status: 500 }, {}])(
    'is not one whose request was refused, or that failed: %j',
    async (answer) => {
      main = answer;
      await expect(ask('alone')).rejects.toThrow();
      expect(status('alone')).toBe('available');
    },
  );
});
