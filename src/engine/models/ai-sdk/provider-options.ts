// The options of each family of models: effort, reasoning, what the provider keeps of the prompt.
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { SdkModel } from '../model-config.js';
import type { Effort, ModelRequest } from '../model-provider.js';
import { type FileContent, fileKind } from '../request-files.js';

export type Options = NonNullable<LanguageModelV3CallOptions['providerOptions']>;

/** Claude before adaptive thinking: it takes a budget of thinking tokens instead. */
const BUDGETED_CLAUDE = /claude-(3-7|(haiku|sonnet|opus)-4-[015]|(sonnet|opus)-4-\d{8})/;
/** The only one of those that takes an `effort` too. */
const EFFORT_AND_BUDGET = /claude-opus-4-5/;
/** Claude that does not think. */
const PLAIN_CLAUDE = /claude-(instant|v?2|3)/;
/** Claude that ties a block of thinking to what stood before it, and by default refuses a request in which that has changed. */
const BINDING_CLAUDE = /claude-(sonnet-5-5|opus-5-5|fable-5-1)/;
const THINKING_TOKENS: Record<Effort, number> = { low: 4_000, medium: 12_000, high: 24_000 };

/** Gemini that thinks, and says what: 2.5 and later; a name without a version is the newest. */
const THINKING_GEMINI = /gemini-(?!1|2\.0)/;
const BUDGETED_GEMINI = /gemini-2/;

/** Whether the Claude of Anthropic's own interface is called, be it on Amazon Bedrock. */
export function isClaude({ provider, model }: SdkModel): boolean {
  return provider === 'anthropic' || (provider === 'amazon-bedrock' && model.includes('anthropic.claude-'));
}

/**
 * Without an effort the model's own default is left alone. `summaries`: whether the provider may be asked for those of its reasoning.
 * `acted`: whether the turn under way begins with calls that no reasoning of the model stands before.
 */
export function providerOptions(
  sdkModel: SdkModel,
  { effort, cacheKey }: Pick<ModelRequest, 'effort' | 'cacheKey'>,
  { summaries = true, acted = false } = {},
): Options {
  if (isClaude(sdkModel)) return { anthropic: claude(sdkModel.model, effort, acted) };
  const { provider, model } = sdkModel;
  switch (provider) {
    case 'openai':
      // Nothing stays with the provider: the whole conversation is sent each time, reasoning encrypted in it.
      return {
        openai: {
          store: false,
          ...(effort === null ? {} : { reasoningEffort: effort }),
          ...(summaries && REASONING_OPENAI.test(model) ? { reasoningSummary: 'auto' } : {}),
          ...(cacheKey === undefined ? {} : { promptCacheKey: cacheKey }),
        },
      };
    case 'google':
      return THINKING_GEMINI.test(model) ? { google: { thinkingConfig: googleThinking(model, effort) } } : {};
    case 'amazon-bedrock':
      return effort === null ? {} : { bedrock: { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } } };
    default:
      return effort === null ? {} : { openaiCompatible: { reasoningEffort: effort } };
  }
}

/**
 * Bytes that the files of one request may have together. A request has at most 32 MB at Anthropic, 20 MB at Google and 25 MB at Amazon
 * Bedrock, and base64 makes four of three.
 */
export function fileBytes({ provider }: SdkModel): number {
  return provider === 'google' || provider === 'amazon-bedrock' ? 14_000_000 : 20_000_000;
}

/** Whether the result of a call can hold a picture. Elsewhere it comes as a message behind the results. */
export function takesFilesInResults(sdkModel: SdkModel): boolean {
  return isClaude(sdkModel) || sdkModel.provider === 'openai';
}

/**
 * The files of a request by names that the provider takes. Amazon Bedrock refuses a request with a name that has a dot, an underscore or a
 * letter of most languages, and one with a name twice; the text before a file names it.
 */
export function named(sdkModel: SdkModel, files: ReadonlyMap<string, FileContent>): ReadonlyMap<string, FileContent> {
  if (sdkModel.provider !== 'amazon-bedrock' || isClaude(sdkModel)) return files;
  let count = 0;
  const renamed = (file: FileContent) => {
    return 'data' in file && fileKind(file.mediaType) === 'file' ? { ...file, name: `document-${++count}` } : file;
  };
  return new Map([...files].map(([key, file]) => [key, renamed(file)]));
}

/** Where the prompt is marked for keeping; undefined where the provider does that by itself or not at all. */
export function cacheMark(sdkModel: SdkModel): Options | undefined {
  if (isClaude(sdkModel)) return { anthropic: { cacheControl: { type: 'ephemeral' } } };
  const { provider, model } = sdkModel;
  if (provider !== 'amazon-bedrock' || !model.includes('amazon.nova')) return undefined;
  return { bedrock: { cachePoint: { type: 'default' } } };
}

/** The others refuse a summary, and an effort. */
const REASONING_OPENAI = /^(o\d|gpt-([5-9]|\d\d))(?!\S*chat)/;

/** How an effort is asked of a Claude: by its name, by a number of tokens to think, by both or not at all. */
export function claudeEffort(model: string, effort: Effort): { effort?: Effort; thinkingTokens?: number } {
  if (PLAIN_CLAUDE.test(model)) return {};
  if (!BUDGETED_CLAUDE.test(model)) return { effort };
  const thinkingTokens = THINKING_TOKENS[effort];
  return EFFORT_AND_BUDGET.test(model) ? { effort, thinkingTokens } : { thinkingTokens };
}

function claude(model: string, effort: Effort | null, acted: boolean): Options[string] {
  const asked = effort === null ? {} : { effort };
  if (BUDGETED_CLAUDE.test(model)) {
    if (effort === null) return {};
    // "Expected `thinking`, but found `tool_use`": with a budget a turn has to begin with thinking. What began it was left out, or another model's.
    const thinking = acted ? {} : { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[effort] } };
    return EFFORT_AND_BUDGET.test(model) ? { ...asked, ...thinking } : thinking;
  }
  if (PLAIN_CLAUDE.test(model)) return {};
  // A model of another maker behind the same interface.
  if (!model.includes('claude-')) return asked;
  const adaptive = { type: 'adaptive', display: 'summarized' };
  // What was left out of a long conversation must not make the provider refuse the rest: the block goes instead.
  const binding = BINDING_CLAUDE.test(model) ? { blockBinding: { prefixMismatchBehavior: 'drop_block' } } : {};
  return { ...asked, thinking: { ...adaptive, ...binding } };
}

function googleThinking(model: string, effort: Effort | null): Record<string, string | number | boolean> {
  if (effort === null) return { includeThoughts: true };
  if (BUDGETED_GEMINI.test(model)) return { thinkingBudget: THINKING_TOKENS[effort], includeThoughts: true };
  return { thinkingLevel: effort, includeThoughts: true };
}
