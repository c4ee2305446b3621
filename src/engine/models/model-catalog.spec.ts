import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registryOf } from '../../../test/harness/agent.js';
import { readEnv } from '../../platform/config/env.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { AiSdkProvider } from './ai-sdk/ai-sdk-provider.js';
import { sdkModelsOf } from './model-config.js';
import { ModelCatalog } from './model-catalog.js';
import { type ModelInfo, type ModelPart, ModelProvider, type ModelRequest } from './model-provider.js';
import { RunbookProvider } from './runbook/runbook-provider.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

@Plugin(ModelProvider, 'house')
class HouseProvider extends ModelProvider {
  asked: string[] = [];
  list(): ModelInfo[] {
    const shape = { description: 'Of the house', efforts: [], defaultEffort: null, input: ['text' as const] };
    return ['small', 'large'].map((id) => ({ ...shape, id, name: id, contextWindow: 8_000, status: 'available' }));
  }
  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    await Promise.resolve(this.asked.push(request.modelId));
    yield { type: 'text', text: 'Hello.' };
  }
}

function catalogOf(variables: Record<string, string>, models?: unknown[], ...more: ModelProvider[]): ModelCatalog {
  const file = join(folder, 'config.json');
  if (models !== undefined) writeFileSync(file, JSON.stringify({ models }));
  const env = readEnv({ ...variables, ...(models === undefined ? {} : { CONFIG_FILE: file }) });
  const catalog = new ModelCatalog(env, registryOf([new AiSdkProvider(env), new RunbookProvider(env), ...more]));
  catalog.onModuleInit();
  return catalog;
}
const ids = (catalog: ModelCatalog) => catalog.list().map((model) => model.id);
const request = (modelId: string): ModelRequest => {
  return { modelId, effort: null, system: '', messages: [], tools: [], signal: new AbortController().signal };
};

describe('models of the environment', () => {
  it('are the runbook alone without a provider', () => {
    const catalog = catalogOf({});
    expect(catalog.list()).toMatchObject([{ id: 'runbook', efforts: ['low', 'medium', 'high'], status: 'available' }]);
    expect(catalog.default().description).toMatch(/^Not an AI/);
  });

  it('are one for each provider, in the order of the reference, named without their route', () => {
    const catalog = catalogOf({
      OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1/v1',
      OPENAI_COMPATIBLE_MODEL: 'org/team/coder',
      GOOGLE_GENERATIVE_AI_API_KEY: 'g',
      OPENAI_API_KEY: 'o',
      OPENAI_MODEL: 'gpt-5-mini',
      ANTHROPIC_API_KEY: 'a',
    });
    expect(ids(catalog)).toEqual(['claude-sonnet-5-5', 'gpt-5-mini', 'gemini-pro-latest', 'coder']);
    expect(catalog.default().id).toBe('claude-sonnet-5-5');
    expect(catalog.find('runbook')).toBeUndefined();
  });

  it('give the whole name to the provider', () => {
    const env = readEnv({ OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1/v1', OPENAI_COMPATIBLE_MODEL: 'org/coder' });
    expect(sdkModelsOf(env)).toMatchObject([{ model: 'org/coder', info: { id: 'coder' }, apiKey: undefined }]);
    expect(sdkModelsOf(readEnv({ OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1' }))).toMatchObject([{ model: 'default' }]);
  });

  it('are by default those that .env.example shows', () => {
    const sample = readFileSync('.env.example', 'utf8');
    const shown = (name: string) => new RegExp(`^# ${name}=(.+)$`, 'm').exec(sample)?.[1];
    const env = readEnv({
      ANTHROPIC_API_KEY: 'a',
      OPENAI_API_KEY: 'o',
      GOOGLE_GENERATIVE_AI_API_KEY: 'g',
      OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1',
    });
    const names = ['ANTHROPIC_MODEL', 'OPENAI_MODEL', 'GOOGLE_MODEL', 'OPENAI_COMPATIBLE_MODEL'];
    expect(names.map(shown)).toEqual(sdkModelsOf(env).map(({ model }) => model));
  });

  it('stop the boot when two have one name', () => {
    const variables = { OPENAI_API_KEY: 'o', OPENAI_MODEL: 'x', ANTHROPIC_API_KEY: 'a', ANTHROPIC_MODEL: 'org/x' };
    expect(() => catalogOf(variables)).toThrow(/Two models are called 'x'/);
  });

  it('stand before those of a plugin', async () => {
    const house = new HouseProvider();
    expect(ids(catalogOf({ OPENAI_API_KEY: 'o' }, undefined, house))).toEqual(['gpt-5.5', 'small', 'large']);
    const catalog = catalogOf({}, undefined, house);
    expect(catalog.default().id).toBe('small');
    for await (const part of catalog.stream(request('large'))) expect(part).toEqual({ type: 'text', text: 'Hello.' });
    expect(house.asked).toEqual(['large']);
    expect(() => catalog.stream(request('gone'))).toThrow(/not offered/);
  });
});

describe('models of the configuration file', () => {
  it('are these and no others, with what the file says of them', () => {
    const catalog = catalogOf({ OPENAI_API_KEY: 'o', HOUSE_KEY: 'h' }, [
      { id: 'quick', provider: 'openai', model: 'gpt-5-mini', efforts: ['low'], defaultEffort: 'low' },
      {
        id: 'main',
        name: 'Main',
        provider: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:1/v1',
        apiKeyEnv: 'HOUSE_KEY',
        default: true,
      },
      { id: 'steps', provider: 'runbook' },
    ]);
    expect(ids(catalog)).toEqual(['quick', 'main', 'steps']);
    expect(catalog.default()).toMatchObject({ id: 'main', name: 'Main', efforts: [] });
    expect(catalog.find('quick')).toMatchObject({ efforts: ['low'], defaultEffort: 'low' });
    expect(catalog.find('steps')?.efforts).toEqual(['low', 'medium', 'high']);
  });

  it('may name one of a plugin', async () => {
    const house = new HouseProvider();
    const catalog = catalogOf({}, [{ id: 'big', provider: 'house', model: 'large' }], house);
    expect(catalog.list()).toMatchObject([{ id: 'big', description: 'Of the house', contextWindow: 8_000 }]);
    for await (const _ of catalog.stream(request('big')));
    expect(house.asked).toEqual(['large']);
  });

  it('are driven by the engine that they name', () => {
    const file = join(folder, 'engines.json');
    const engines = { codex: { path: folder, command: ['node'], wire: 'openai-responses' } };
    const models = [{ id: 'a', provider: 'openai', engine: 'codex' }, { id: 'b', provider: 'openai' }]; // prettier-ignore
    writeFileSync(file, JSON.stringify({ models, engines }));
    const env = readEnv({ OPENAI_API_KEY: 'o', CONFIG_FILE: file });
    const catalog = new ModelCatalog(env, registryOf([new AiSdkProvider(env), new RunbookProvider(env)]));
    expect(catalog.engineOf('a')).toMatchObject({ name: 'codex', wire: 'openai-responses', concurrency: 4 });
    expect([catalog.engineOf('b'), catalog.engineOf('gone')]).toEqual([null, null]);
  });

  it('do not send the key of one address to another', () => {
    const file = join(folder, 'keys.json');
    const model = { id: 'x', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:2/v1' };
    writeFileSync(file, JSON.stringify({ models: [model] }));
    const variables = { OPENAI_COMPATIBLE_URL: 'http://127.0.0.1:1/v1', OPENAI_COMPATIBLE_KEY: 'secret' };
    expect(sdkModelsOf(readEnv({ ...variables, CONFIG_FILE: file }))).toMatchObject([{ apiKey: undefined }]);
  });

  it.each([
    [{ id: 'x', provider: 'amazon-bedrock' }, /AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and .* is expected/],
    [{ id: 'x', provider: 'openai' }, /apiKeyEnv or OPENAI_API_KEY is expected/],
    [{ id: 'x', provider: 'openai-compatible' }, /baseUrl/],
    [{ id: 'x', provider: 'olama' }, /no provider 'olama'; one of anthropic, .*runbook/],
    [{ id: 'x', provider: 'runbook', model: 'other' }, /has no model 'other'; it has: runbook/],
  ])('stop the boot when they cannot work: %j', (model, message) => {
    expect(() => catalogOf({}, [model])).toThrow(message);
  });

  it('stop the boot when a runbook would answer for a model whose long conversations are cut', () => {
    const house = { id: 'big', provider: 'house', fallback: 'steps' };
    const steps = { id: 'steps', provider: 'runbook' };
    expect(() => catalogOf({}, [house, steps], new HouseProvider())).toThrow(/'big': 'steps' cannot be its fallback/);
    const others = [{ ...steps, id: 'first', fallback: 'steps' }, { ...steps, fallback: 'last' }, { ...house, id: 'last', fallback: null }]; // prettier-ignore
    expect(ids(catalogOf({}, others, new HouseProvider()))).toEqual(['first', 'steps', 'last']);
  });
});
