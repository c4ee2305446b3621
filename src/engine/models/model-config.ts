// Which models this deployment offers: from CONFIG_FILE, else one per provider that the environment names.
import type { ModelConfig } from '../../platform/config/config-file.js';
import { ConfigurationError, type Env } from '../../platform/config/env.js';
import type { ModelInfo } from './model-provider.js';

/** The providers of which the environment alone makes a model. */
export const ENV_PROVIDERS = ['anthropic', 'openai', 'google', 'openai-compatible'] as const;
type EnvProviderName = (typeof ENV_PROVIDERS)[number];
export const SDK_PROVIDERS = [...ENV_PROVIDERS, 'amazon-bedrock'] as const;
export type SdkProviderName = (typeof SDK_PROVIDERS)[number];

/** How Amazon Bedrock is called: the region, and the keys of an account where there is no key of Bedrock. */
export interface AwsAccess {
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  sessionToken?: string;
}

/** A model that a provider package of the AI SDK serves. */
export interface SdkModel {
  info: ModelInfo;
  provider: SdkProviderName;
  /** The provider's own name of the model. */
  model: string;
  apiKey: string | undefined;
  baseUrl: string | undefined;
  /** Of `amazon-bedrock` alone. */
  aws?: AwsAccess;
}

/** Used when `*_MODEL` is not set. `default` is what gateways such as LiteLLM and llama.cpp answer to by convention. */
const DEFAULT_MODELS: Record<EnvProviderName, string> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-5.5',
  google: 'gemini-pro-latest',
  'openai-compatible': 'default',
};

export const KEY_VARIABLES = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const;

/** The models of the AI SDK's packages, in the order of the configuration. Throws {@link ConfigurationError}. */
export function sdkModelsOf(env: Env): SdkModel[] {
  if (env.file.models === undefined) return fromEnvironment(env);
  return env.file.models.flatMap((model) => {
    const provider = SDK_PROVIDERS.find((name) => name === model.provider);
    return provider === undefined ? [] : [fromFile(env, model, provider)];
  });
}

function fromEnvironment({ variables: v }: Env): SdkModel[] {
  const found: SdkModel[] = [];
  const add = (provider: EnvProviderName, name: string | undefined, apiKey?: string, baseUrl?: string) => {
    const model = name ?? DEFAULT_MODELS[provider];
    found.push({
      info: { ...infoOf(publicId(model)), input: inputOf(provider, model) },
      provider,
      model,
      apiKey,
      baseUrl,
    });
  };
  if (v.ANTHROPIC_API_KEY !== undefined) add('anthropic', v.ANTHROPIC_MODEL, v.ANTHROPIC_API_KEY);
  if (v.OPENAI_API_KEY !== undefined) add('openai', v.OPENAI_MODEL, v.OPENAI_API_KEY);
  if (v.GOOGLE_GENERATIVE_AI_API_KEY !== undefined) add('google', v.GOOGLE_MODEL, v.GOOGLE_GENERATIVE_AI_API_KEY);
  if (v.OPENAI_COMPATIBLE_URL !== undefined) {
    add('openai-compatible', v.OPENAI_COMPATIBLE_MODEL, v.OPENAI_COMPATIBLE_KEY, v.OPENAI_COMPATIBLE_URL);
  }
  return found;
}

/** The model's own name without a route before it: `org/name` → `name` (reference §16). */
function publicId(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1) || model;
}

/** Of OpenAI's older models some read text alone; what stands behind another address is not known. */
const TEXT_ALONE = /^(gpt-3|gpt-4(?![o.]|-turbo|\d)|o1-mini|o1-preview|o3-mini)/;

function inputOf(provider: EnvProviderName, model: string): ModelInfo['input'] {
  const isText = provider === 'openai-compatible' || (provider === 'openai' && TEXT_ALONE.test(model));
  return isText ? ['text'] : ['text', 'image', 'file'];
}

function infoOf(id: string): ModelInfo {
  return {
    id,
    name: id,
    description: '',
    // An effort is sent only when a task asks for one, because some servers refuse the parameter.
    efforts: ['low', 'medium', 'high'],
    defaultEffort: null,
    input: ['text'],
    contextWindow: null,
    status: 'available',
  };
}

function fromFile(env: Env, config: ModelConfig, provider: SdkProviderName): SdkModel {
  const baseUrl =
    config.baseUrl ?? (provider === 'openai-compatible' ? env.variables.OPENAI_COMPATIBLE_URL : undefined);
  if (provider === 'openai-compatible' && baseUrl === undefined) {
    throw new ConfigurationError(`CONFIG_FILE, model '${config.id}': baseUrl (or OPENAI_COMPATIBLE_URL) is expected.`);
  }
  return {
    info: configuredInfo(config),
    provider,
    model: config.model ?? config.id,
    apiKey: keyFor(env, config, provider),
    baseUrl,
    ...(provider === 'amazon-bedrock' ? { aws: awsAccess(env, config) } : {}),
  };
}

/** Throws {@link ConfigurationError} unless the environment has what a call of Bedrock needs. */
function awsAccess({ variables: v }: Env, { id, baseUrl, apiKeyEnv }: ModelConfig): AwsAccess {
  const region = v.AWS_REGION === undefined ? {} : { region: v.AWS_REGION };
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = v;
  const bearer = apiKeyEnv !== undefined || v.AWS_BEARER_TOKEN_BEDROCK !== undefined;
  if (!bearer && (accessKeyId === undefined || secretAccessKey === undefined)) {
    const accepted = 'apiKeyEnv, AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    throw new ConfigurationError(`CONFIG_FILE, model '${id}': ${accepted} is expected.`);
  }
  // A signature names the region, wherever the request goes.
  if (v.AWS_REGION === undefined && (!bearer || baseUrl === undefined)) {
    throw new ConfigurationError(`CONFIG_FILE, model '${id}': AWS_REGION is expected.`);
  }
  if (bearer || accessKeyId === undefined || secretAccessKey === undefined) return region;
  return { ...region, accessKeyId, secretAccessKey, ...(token === undefined ? {} : { sessionToken: token }) };
}

function keyFor(env: Env, config: ModelConfig, provider: SdkProviderName): string | undefined {
  if (config.apiKeyEnv !== undefined) return env.modelKeys.get(config.apiKeyEnv);
  if (provider === 'openai-compatible') {
    // The key belongs to OPENAI_COMPATIBLE_URL; another address does not get it.
    return config.baseUrl === undefined ? env.variables.OPENAI_COMPATIBLE_KEY : undefined;
  }
  if (provider === 'amazon-bedrock') return env.variables.AWS_BEARER_TOKEN_BEDROCK;
  const key = env.variables[KEY_VARIABLES[provider]];
  if (key === undefined) {
    throw new ConfigurationError(
      `CONFIG_FILE, model '${config.id}': apiKeyEnv or ${KEY_VARIABLES[provider]} is expected.`,
    );
  }
  return key;
}

/** What a model of CONFIG_FILE shows. */
export function configuredInfo(config: ModelConfig): ModelInfo {
  return {
    id: config.id,
    name: config.name ?? config.id,
    description: config.description,
    efforts: config.efforts,
    defaultEffort: config.defaultEffort,
    input: config.input,
    contextWindow: config.contextWindow,
    status: 'available',
  };
}
