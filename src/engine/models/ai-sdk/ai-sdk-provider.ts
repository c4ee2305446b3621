import type {
  LanguageModelV3,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { Env } from '../../../platform/config/env.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { toModelError } from './ai-sdk-errors.js';
import { providerOptions, toPrompt } from './ai-sdk-prompt.js';
import type { ProviderMetadata } from '../conversation.js';
import { AI_SDK } from '../model-catalog.js';
import { type SdkModel, sdkModelsOf } from '../model-config.js';
import {
  ModelError,
  type ModelInfo,
  type ModelPart,
  ModelProvider,
  type ModelRequest,
  type ModelUsage,
} from '../model-provider.js';

/**
 * Anthropic, OpenAI, Google and everything OpenAI-compatible through the AI SDK's provider packages. It calls their
 * `doStream` and nothing above it: half the time per step of `streamText`, and no hidden retries.
 */
@Plugin(ModelProvider, AI_SDK)
export class AiSdkProvider extends ModelProvider {
  private readonly models: SdkModel[];
  private readonly loaded = new Map<string, Promise<LanguageModelV3>>();

  constructor(env: Env) {
    super();
    this.models = sdkModelsOf(env);
  }

  list(): ModelInfo[] {
    return this.models.map((model) => model.info);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const model = this.models.find(({ info }) => info.id === request.modelId);
    if (model === undefined) throw new ModelError(`The model '${request.modelId}' is not offered here.`, false);
    const reader = await this.open(model, request);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const part = partOf(value);
        if (part !== null) yield part;
      }
    } catch (error) {
      request.signal.throwIfAborted();
      throw toModelError(error);
    } finally {
      // Without this, an answer that nobody reads keeps its connection open.
      reader.cancel().catch(() => undefined);
    }
  }

  private async open(model: SdkModel, request: ModelRequest) {
    try {
      const language = await this.load(model);
      const { stream } = await language.doStream({
        prompt: toPrompt(request.system, request.messages),
        tools: request.tools.map((tool) => ({ type: 'function', ...tool })),
        providerOptions: providerOptions(model, request.effort),
        abortSignal: request.signal,
      });
      return stream.getReader();
    } catch (error) {
      request.signal.throwIfAborted();
      throw toModelError(error);
    }
  }

  private load(model: SdkModel): Promise<LanguageModelV3> {
    let loading = this.loaded.get(model.info.id);
    if (loading === undefined) {
      loading = createModel(model);
      this.loaded.set(model.info.id, loading);
    }
    return loading;
  }
}

/** Each package is imported at the first call to it: 20 to 30 MB and 70 ms that an idle service does not pay. */
async function createModel({ provider, model, apiKey, baseUrl }: SdkModel): Promise<LanguageModelV3> {
  const settings = {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  };
  switch (provider) {
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model);
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(settings)(model);
    case 'google':
      return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model);
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const name = 'openai-compatible';
      return createOpenAICompatible({ name, baseURL: baseUrl ?? '', includeUsage: true, ...settings })(model);
    }
  }
}

/** One part of the SDK as one of ours; null for those that say nothing. */
function partOf(part: LanguageModelV3StreamPart): ModelPart | null {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
      return { type: 'text', ...piece(part) };
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return { type: 'reasoning', ...piece(part) };
    case 'tool-input-delta':
      // A model can take minutes to write the arguments of a call. The empty piece is its sign of life.
      return { type: 'text', text: '' };
    case 'tool-call': {
      const { toolCallId, toolName: name, input } = part;
      return { type: 'tool_call', toolCallId, name, input, ...metadata(part.providerMetadata) };
    }
    case 'error':
      throw toModelError(part.error);
    case 'finish':
      if (part.finishReason.unified === 'error') throw toModelError(part.finishReason);
      return { type: 'finish', reason: reasonOf(part.finishReason), usage: usageOf(part.usage) };
    default:
      return null;
  }
}

function piece(part: { type: string; delta?: string; providerMetadata?: ProviderMetadata }) {
  const end = part.type.endsWith('-end') ? { end: true } : {};
  return { text: part.delta ?? '', ...end, ...metadata(part.providerMetadata) };
}

function metadata(given: ProviderMetadata | undefined): { providerMetadata?: ProviderMetadata } {
  return given === undefined ? {} : { providerMetadata: given };
}

function reasonOf({ unified }: LanguageModelV3FinishReason) {
  if (unified === 'tool-calls') return 'tool_calls';
  if (unified === 'content-filter') return 'content_filter';
  return unified === 'error' ? 'other' : unified;
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV3Usage): ModelUsage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedInputTokens: inputTokens.cacheRead ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}
