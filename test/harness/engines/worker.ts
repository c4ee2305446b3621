// A worker whose operator offers an agent program as an engine.
import { fileURLToPath } from 'node:url';
import { EngineSettings, settingsOf } from '../../../src/engine/agent/engine-settings.js';
import type { EngineConfig } from '../../../src/platform/config/engines.js';
import { Env } from '../../../src/platform/config/env.js';
import { type BootOptions, bootWorker, type TestApp } from '../app.js';
import type { FakeCall, FakeModel } from './fake-model.js';

/** Of the program that stands here; tasks see it below `/opt/engines/<name>`. */
const FOLDER = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');
const KEY = 'a key that stays outside';

type Config = NonNullable<BootOptions['config']>;
type Engine = NonNullable<Config['engines']>[string];

/** The program as an engine. `env` is what makes it odd. */
export function engineOf(env: Record<string, string> = {}, about: Partial<Engine> = {}): Engine {
  const wire: EngineConfig['wire'] = about.wire ?? 'openai-chat';
  return {
    path: FOLDER,
    command: ['node', '{path}/acp-program.mjs'],
    env: { MODEL_URL: '{url}', MODEL_WIRE: wire, ...env },
    wire,
    reads: ['look'],
    ...about,
  };
}

const PROVIDERS = {
  'openai-chat': { provider: 'openai-compatible' },
  'openai-responses': { provider: 'openai' },
  'anthropic-messages': { provider: 'anthropic' },
} as const;

/** A model of the same name as each engine; `scripted` is driven by the built-in loop. */
export function bootWithEngines(
  model: FakeModel,
  engines: Record<string, Engine>,
  { config = {}, env = {}, ...options }: BootOptions = {},
): Promise<TestApp> {
  const of = Object.entries(engines).map(([id, { wire }]) => {
    return { id, engine: id, model: `real-${id}`, baseUrl: model.url, apiKeyEnv: 'FAKE_KEY', ...PROVIDERS[wire] };
  });
  const scripted = { id: 'scripted', provider: 'openai-compatible', baseUrl: model.url };
  return bootWorker({
    // What a trial at the boot finds would tell on the first tests.
    override: (builder) => {
      const useFactory = (of: Env) => Object.assign(settingsOf(of), { triesEngines: false });
      return builder.overrideProvider(EngineSettings).useFactory({ factory: useFactory, inject: [Env] });
    },
    ...options,
    env: { FAKE_KEY: KEY, ...env },
    config: { titles: false, ...config, engines, models: [...of, scripted, ...(config.models ?? [])] },
  });
}

export const shell = (command: string, id?: string): FakeCall => {
  return { name: 'shell', arguments: { command }, ...(id === undefined ? {} : { id }) };
};
