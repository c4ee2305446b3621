// Our conversation as a prompt of the AI SDK, and our effort as the options that each provider has for it.
import type { LanguageModelV3CallOptions, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { ConversationMessage, ProviderMetadata, StoredPart, ToolInvocation } from '../conversation.js';
import type { Effort } from '../model-provider.js';
import type { SdkModel } from '../model-config.js';

type Options = NonNullable<LanguageModelV3CallOptions['providerOptions']>;
type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];
type ToolContent = Extract<LanguageModelV3Message, { role: 'tool' }>['content'];
type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output'];

/** Anthropic caches a prompt up to a mark; other providers ignore it. A long conversation costs a tenth with it. */
const CACHE: Options = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** The prompt for one model call. Everything that the providers refuse (empty messages, input that is no object) is mended. */
export function toPrompt(system: string, messages: ConversationMessage[]): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = [{ role: 'system', content: system, providerOptions: CACHE }];
  for (const message of messages) {
    if (message.role === 'user') addUser(prompt, message);
    else addAssistant(prompt, message);
  }
  const last = prompt.at(-1);
  if (last !== undefined && prompt.length > 1) last.providerOptions = CACHE;
  return prompt;
}

function addUser(prompt: LanguageModelV3Prompt, message: ConversationMessage): void {
  const content = message.parts.flatMap((part) => {
    const text = userText(part);
    return text === '' ? [] : [{ type: 'text' as const, text }];
  });
  if (content.length > 0) prompt.push({ role: 'user', content });
}

function userText(part: StoredPart): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'file') return `[Attached file, in the workdir: ${part.path} (${part.mediaType})]`;
  return '';
}

function addAssistant(prompt: LanguageModelV3Prompt, message: ConversationMessage): void {
  const invocations = new Map(message.invocations.map((one) => [one.toolCallId, one]));
  const content: AssistantContent = [];
  const results: ToolContent = [];
  for (const part of message.parts) {
    if (part.type === 'reasoning' || (part.type === 'text' && part.text !== '')) {
      content.push({ type: part.type, text: part.text, ...withOptions(part.providerMetadata) });
    }
    const call = part.type === 'tool' ? invocations.get(part.toolCallId) : undefined;
    if (part.type !== 'tool' || call === undefined) continue;
    const toolName = safeName(call.name);
    content.push({
      type: 'tool-call',
      toolCallId: call.toolCallId,
      toolName,
      input: isObject(call.input) ? call.input : { unreadable: call.input },
      ...withOptions(part.providerMetadata),
    });
    results.push({ type: 'tool-result', toolCallId: call.toolCallId, toolName, output: outputOf(call) });
  }
  if (content.length > 0) prompt.push({ role: 'assistant', content });
  if (results.length > 0) prompt.push({ role: 'tool', content: results });
}

function outputOf({ result }: ToolInvocation): ToolOutput {
  if (result === null) return { type: 'error-text', value: 'There is no result: the call was given up.' };
  if (result.status === 'error') return { type: 'error-text', value: result.error };
  if (result.status === 'denied') return { type: 'execution-denied', reason: deniedText(result.reason) };
  if (typeof result.output === 'string') return { type: 'text', value: result.output };
  return { type: 'json', value: result.output };
}

function deniedText(reason: string | null): string {
  const denied = 'This call was denied, so it was not carried out.';
  return reason === null ? denied : `${denied} The reason: ${reason}`;
}

function withOptions(metadata: ProviderMetadata | undefined): { providerOptions?: Options } {
  // It came from the provider as JSON, and goes back as it came.
  return metadata === undefined ? {} : { providerOptions: metadata as Options };
}

/** Providers refuse a whole request because of one odd name that the model itself once made up. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Claude models before the `effort` parameter: they take a budget of thinking tokens instead. */
const BUDGETED_CLAUDE = /claude-(3|(haiku|sonnet)-4-[05]|(sonnet|opus)-4-\d{8}|opus-4-[01])/;
const THINKING_TOKENS: Record<Effort, number> = { low: 4_000, medium: 12_000, high: 24_000 };

/** How a provider is told the effort; without one the model's own default is left alone. */
export function providerOptions({ provider, model }: SdkModel, effort: Effort | null): Options {
  switch (provider) {
    case 'anthropic':
      if (effort === null) return {};
      if (!BUDGETED_CLAUDE.test(model)) return { anthropic: { effort } };
      return { anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[effort] } } };
    case 'openai':
      // Nothing stays with the provider: the whole conversation is sent each time, reasoning encrypted in it.
      return { openai: { store: false, ...(effort === null ? {} : { reasoningEffort: effort }) } };
    case 'google':
      if (effort === null) return {};
      return { google: { thinkingConfig: googleThinking(model, effort) } };
    case 'openai-compatible':
      return effort === null ? {} : { openaiCompatible: { reasoningEffort: effort } };
  }
}

function googleThinking(model: string, effort: Effort): Record<string, string | number | boolean> {
  if (model.includes('gemini-2')) return { thinkingBudget: THINKING_TOKENS[effort], includeThoughts: true };
  return { thinkingLevel: effort, includeThoughts: true };
}
