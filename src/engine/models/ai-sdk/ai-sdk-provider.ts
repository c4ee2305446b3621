import {
  InvalidResponseDataError,
  type LanguageModelV3,
  type LanguageModelV3FinishReason,
  type LanguageModelV3StreamPart,
  type LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { Env } from '../../../platform/config/env.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { refusesSummaries, toModelError } from './ai-sdk-errors.js';
import { actsWithoutReasoning, toPrompt } from './ai-sdk-prompt.js';
import { hasDone, notingDone } from './done-mark.js';
import { type FreeformFields, freeformFields, NO_FREEFORM, refusesFreeform, sdkTools, withField } from './freeform.js';
import { carefully } from './careful-fetch.js';
import { cacheMark, fileBytes, isClaude, named, providerOptions, takesFilesInResults } from './provider-options.js';
import { OWN, type ProviderMetadata } from '../conversation.js';
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

/** By the provider's name of the model, also behind the route of a gateway. */
const WRITES_PATCHES = /(^|\/)(gpt-([5-9]|[12]\d)(?!\d)|codex)/i;

/**
 * Anthropic, OpenAI, Google, Amazon Bedrock and everything OpenAI-compatible through the AI SDK's provider packages. It calls their
 * `doStream` and nothing above it: half the time per step of `streamText`, and no hidden retries.
 */
@Plugin(ModelProvider, AI_SDK)
export class AiSdkProvider extends ModelProvider {
  private readonly models: SdkModel[];
  private readonly loaded = new Map<string, Promise<LanguageModelV3>>();
  /** Models that gave no summaries of their reasoning: OpenAI gives them to organisations that it has verified alone. */
  private readonly withoutSummaries = new Set<string>();
  /** Models whose server took no calls as plain text. */
  private readonly withoutFreeform = new Set<string>();

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
    const isJson = this.withoutFreeform.has(model.info.id);
    const freeform = isJson ? NO_FREEFORM : freeformFields(model, request.tools);
    const reader = await this.open(model, request, freeform);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const part = hasDone(request.signal) ? lastPartOf(value) : partOf(value);
        if (part !== null) yield signed(withField(part, freeform), makerOf(model));
      }
    } catch (error) {
      request.signal.throwIfAborted();
      throw toModelError(error);
    } finally {
      // Without this, an answer that nobody reads keeps its connection open.
      reader.cancel().catch(() => undefined);
    }
  }

  override writesPatches(modelId: string): boolean {
    return this.models.some(({ info, model }) => info.id === modelId && WRITES_PATCHES.test(model));
  }

  private async open(model: SdkModel, request: ModelRequest, freeform: FreeformFields) {
    const { input } = model.info;
    const limits = { input, bytes: fileBytes(model), signal: request.signal };
    const files = named(model, (await request.files?.contents(request.messages, limits)) ?? new Map());
    const inResults = takesFilesInResults(model);
    const options = {
      maker: makerOf(model),
      cache: cacheMark(model),
      files,
      inResults,
      freeform,
      bound: isClaude(model),
    };
    const prompt = toPrompt(request.system, request.messages, options);
    const how = { summaries: !this.withoutSummaries.has(model.info.id), acted: actsWithoutReasoning(prompt) };
    try {
      const language = await this.load(model);
      const { stream } = await language.doStream({
        prompt,
        tools: sdkTools(request.tools, freeform),
        providerOptions: providerOptions(model, request, how),
        abortSignal: request.signal,
      });
      return stream.getReader();
    } catch (error) {
      request.signal.throwIfAborted();
      if (refusesSummaries(error) && !this.withoutSummaries.has(model.info.id)) {
        this.withoutSummaries.add(model.info.id);
        throw new ModelError("The model's provider gives no summaries of its reasoning.", true, 0, { cause: error });
      }
      if (freeform.size > 0 && refusesFreeform(error)) {
        this.withoutFreeform.add(model.info.id);
        throw new ModelError("The model's provider takes no calls as plain text.", true, 0, { cause: error });
      }
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

/** Each package is imported at the first call to it: 20 to 30 MB and 70 to 200 ms that an idle service does not pay. */
async function createModel(sdkModel: SdkModel): Promise<LanguageModelV3> {
  const { provider, model, apiKey, baseUrl, aws } = sdkModel;
  const settings = {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    fetch: carefully,
  };
  switch (provider) {
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(model);
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(settings)(model);
    case 'google':
      return (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings)(model);
    case 'amazon-bedrock':
      // Claude by its own interface, which has its settings, marks and seals; all other models by Converse.
      if (isClaude(sdkModel)) {
        return (await import('@ai-sdk/amazon-bedrock/anthropic')).createBedrockAnthropic({ ...settings, ...aws })(
          model,
        );
      }
      return (await import('@ai-sdk/amazon-bedrock')).createAmazonBedrock({ ...settings, ...aws })(model);
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const name = 'openai-compatible';
      const noting = { ...settings, fetch: notingDone(carefully) };
      return createOpenAICompatible({ name, baseURL: baseUrl ?? '', includeUsage: true, ...noting })(model);
    }
  }
}

/** Identifies the model that sealed its reasoning: no other model can use the seal. */
function makerOf({ provider, model }: SdkModel): string {
  return `${provider}/${model}`;
}

function signed(part: ModelPart, by: string): ModelPart {
  if (!('providerMetadata' in part)) return part;
  return { ...part, providerMetadata: { ...part.providerMetadata, [OWN]: { by } } };
}

/** One part of a stream whose server has said that it is over: that it gives no reason for it is no failure. */
function lastPartOf(part: LanguageModelV3StreamPart): ModelPart | null {
  if (part.type === 'error' && InvalidResponseDataError.isInstance(part.error)) return null;
  if (part.type !== 'finish' || part.finishReason.raw !== undefined) return partOf(part);
  return { type: 'finish', reason: 'other', usage: usageOf(part.usage) };
}

/** One part of the SDK as one of ours; null for those that say nothing. */
function partOf(part: LanguageModelV3StreamPart): ModelPart | null {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
      return { type: 'text', ...chunk(part) };
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return { type: 'reasoning', ...chunk(part) };
    case 'tool-input-delta':
      // A model can take minutes to write the arguments of a call, or not come to their end.
      return { type: 'tool_input', length: part.delta.length };
    case 'tool-call': {
      const { toolCallId, toolName: name, input } = part;
      return { type: 'tool_call', toolCallId, name, input, ...metadata(part.providerMetadata) };
    }
    case 'error':
      throw toModelError(part.error);
    case 'finish':
      if (part.finishReason.unified === 'error' || hasNoEnd(part.finishReason)) throw toModelError(part.finishReason);
      return { type: 'finish', reason: reasonOf(part.finishReason), usage: usageOf(part.usage) };
    default:
      return null;
  }
}

/** The packages begin with this reason, and end with it when the provider's stream is over without one: a part of an answer. */
function hasNoEnd({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return unified === 'other' && raw === undefined;
}

function chunk(part: { type: string; delta?: string; providerMetadata?: ProviderMetadata }) {
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
