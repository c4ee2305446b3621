import { Injectable, type OnModuleInit } from '@nestjs/common';
import { enginesIn } from '../../platform/config/config-file.js';
import type { EngineConfig } from '../../platform/config/engines.js';
import { ConfigurationError, Env } from '../../platform/config/env.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { configuredInfo, SDK_PROVIDERS } from './model-config.js';
import { ModelHealth } from './model-health.js';
import type { Prices } from './prices.js';
import { ModelError, type ModelInfo, type ModelPart, ModelProvider, type ModelRequest } from './model-provider.js';

/** Names of the built-in plugins of {@link ModelProvider}. */
export const AI_SDK = 'ai-sdk';
export const RUNBOOK = 'runbook';

interface Entry {
  info: ModelInfo;
  provider: ModelProvider;
  /** The id under which the provider itself lists the model. */
  providerId: string;
}

/** Every model of the deployment, of all providers (reference §15). */
@Injectable()
export class ModelCatalog implements OnModuleInit {
  readonly health = new ModelHealth();
  private providers: Map<string, ModelProvider> | undefined;

  constructor(
    private readonly env: Env,
    private readonly registry: PluginRegistry,
  ) {}

  /** Refuses to boot on a configuration that cannot work. */
  onModuleInit(): void {
    const seen = new Set<string>();
    for (const { info } of this.entries()) {
      if (seen.has(info.id)) {
        throw new ConfigurationError(
          `Two models are called '${info.id}'. Give every model an id of its own under models in CONFIG_FILE.`,
        );
      }
      seen.add(info.id);
      const fallback = this.fallback(info.id);
      // It would be sent the compacted conversation, and a runbook would carry out blocks of it once more.
      if (fallback?.anyLength === true && info.anyLength !== true) {
        throw new ConfigurationError(
          `CONFIG_FILE, model '${info.id}': '${fallback.id}' cannot be its fallback. It needs the whole conversation, and a model of ` +
            'a limited length has parts of a long one left out.',
        );
      }
    }
  }

  /** Models in the order of the configuration. */
  list(): ModelInfo[] {
    return this.entries().map(({ info }) => {
      return this.health.isAvailable(info.id) ? info : { ...info, status: 'unavailable' };
    });
  }

  /** The model of a task that names none. There is always one. */
  default(): ModelInfo {
    const models = this.list();
    const chosen = this.env.file.models?.find((model) => model.default)?.id;
    const found = models.find((model) => model.id === chosen) ?? models[0];
    if (found === undefined) throw new ConfigurationError('No model is configured.');
    return found;
  }

  find(id: string): ModelInfo | undefined {
    return this.list().find((model) => model.id === id);
  }

  /** What a model costs; null when the operator gives no prices. */
  prices(id: string): Prices | null {
    return this.env.file.models?.find((model) => model.id === id)?.prices ?? null;
  }

  /** The agent program that drives tasks of the model (reference §30); null: the engine of `AGENT_ENGINE` does. */
  engineOf(id: string): EngineConfig | null {
    const name = this.env.file.models?.find((model) => model.id === id)?.engine;
    return name === undefined ? null : (enginesIn(this.env.file).find((one) => one.name === name) ?? null);
  }

  /** As {@link ModelProvider.wantsSurroundings} of the model's provider. */
  wantsSurroundings(id: string): boolean {
    return this.entries().some(({ info, provider }) => info.id === id && provider.wantsSurroundings);
  }

  /** As {@link ModelProvider.makesTitles} of the model's provider. */
  makesTitles(id: string): boolean {
    return this.entries().some(({ info, provider }) => info.id === id && provider.makesTitles);
  }

  /** As {@link ModelProvider.writesPatches} of the model's provider. */
  writesPatches(id: string): boolean {
    return this.entries().some(
      ({ info, provider, providerId }) => info.id === id && provider.writesPatches(providerId),
    );
  }

  /** The model to call when this one cannot be called; null without one. */
  fallback(id: string): ModelInfo | null {
    const fallback = this.env.file.models?.find((model) => model.id === id)?.fallback ?? null;
    return fallback === null ? null : (this.find(fallback) ?? null);
  }

  /** Calls the model that owns `request.modelId`; throws {@link ModelError} as {@link ModelProvider.stream} does. */
  stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const entry = this.entries().find(({ info }) => info.id === request.modelId);
    if (entry === undefined)
      throw new ModelError(`The model '${request.modelId}' is not offered here any more.`, false);
    return entry.provider.stream({ ...request, modelId: entry.providerId });
  }

  private entries(): Entry[] {
    const providers = (this.providers ??= this.registry.all(ModelProvider));
    const found = this.env.file.models === undefined ? this.unconfigured(providers) : this.configured(providers);
    return found.length > 0 ? found : entriesOf(providers.get(RUNBOOK));
  }

  /** Without CONFIG_FILE: the environment's models, then those of every plugin. */
  private unconfigured(providers: Map<string, ModelProvider>): Entry[] {
    const foreign = [...providers].filter(([name]) => name !== AI_SDK && name !== RUNBOOK);
    return [...entriesOf(providers.get(AI_SDK)), ...foreign.flatMap(([, provider]) => entriesOf(provider))];
  }

  private configured(providers: Map<string, ModelProvider>): Entry[] {
    const sdk = new Map(entriesOf(providers.get(AI_SDK)).map((entry) => [entry.info.id, entry]));
    return (this.env.file.models ?? []).map((config) => {
      const own = sdk.get(config.id);
      if (own !== undefined) return own;
      const provider = providers.get(config.provider);
      const offered = provider?.list() ?? [];
      const target = config.model === undefined ? offered[0] : offered.find((model) => model.id === config.model);
      if (provider === undefined || target === undefined) throw unknownModel(config, providers, offered);
      const info = configuredInfo(config);
      if (info.efforts.length === 0)
        Object.assign(info, { efforts: target.efforts, defaultEffort: target.defaultEffort });
      info.description ||= target.description;
      info.contextWindow ??= target.contextWindow;
      info.status = target.status;
      if (target.anyLength === true) info.anyLength = true;
      return { info, provider, providerId: target.id };
    });
  }
}

function entriesOf(provider: ModelProvider | undefined): Entry[] {
  return provider?.list().map((info) => ({ info, provider, providerId: info.id })) ?? [];
}

function unknownModel(
  config: { id: string; provider: string; model?: string | undefined },
  providers: Map<string, ModelProvider>,
  offered: ModelInfo[],
): ConfigurationError {
  if (providers.has(config.provider)) {
    return new ConfigurationError(
      `CONFIG_FILE, model '${config.id}': the provider '${config.provider}' has no model '${config.model ?? ''}'; ` +
        `it has: ${offered.map((model) => model.id).join(', ') || 'none'}.`,
    );
  }
  const plugins = [...providers.keys()].filter((name) => name !== AI_SDK);
  return new ConfigurationError(
    `CONFIG_FILE, model '${config.id}': there is no provider '${config.provider}'; one of ` +
      `${[...SDK_PROVIDERS, ...plugins].join(', ')} is expected.`,
  );
}
