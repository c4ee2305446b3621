import { newId } from '../../platform/database/ids.js';
import type { ConversationMessage, JsonValue, ProviderMetadata, StoredPart } from '../models/conversation.js';
import { ModelError, type ModelPart, type ModelUsage } from '../models/model-provider.js';
import { cleanJson, cleanText } from './clean-json.js';
import type { LiveAnswer } from './live-answer.js';

/** More than any model has; far below what a bigint column holds, also when it is added up. */
const MAX_TOKENS = 1e12;

/** A call as the model wrote it. */
export interface RequestedCall {
  toolCallId: string;
  name: string;
  input: string;
}

/** What one model call came to. With `failure` there are no calls. */
export interface ModelAnswer {
  parts: StoredPart[];
  calls: RequestedCall[];
  usage: ModelUsage;
  failure: { code: string; message: string; retryable: boolean } | null;
  /** It ends in the middle of its text, at the output limit of the model. */
  truncated: boolean;
}

/** An answer without text and calls. Asked in the same words again, a model often says nothing again. */
export class EmptyAnswerError extends ModelError {}

type Finish = Extract<ModelPart, { type: 'finish' }>;
interface OpenPart {
  type: 'text' | 'reasoning';
  text: string;
  providerMetadata?: ProviderMetadata;
}

/**
 * Turns a model's id of a call into one that the conversation has not seen, or leaves it: models repeat ids or leave them out, and in a
 * conversation they are unique.
 */
export function uniqueIds(conversation: readonly ConversationMessage[]): (id: string) => string {
  const taken = new Set(conversation.flatMap(({ invocations }) => invocations.map((one) => one.toolCallId)));
  return (id) => {
    const unique = /^[\w.:-]{1,100}$/.test(id) && !taken.has(id) ? id : `call_${newId()}`;
    taken.add(unique);
    return unique;
  };
}

/** Puts the chunks of a stream together. `uniqueId`: see {@link uniqueIds}. */
export class AnswerCollector {
  private readonly parts: StoredPart[] = [];
  private readonly calls: RequestedCall[] = [];
  private open: OpenPart | null = null;
  private length = 0;
  /** Of the arguments of the call that is being written. */
  private arriving = 0;
  finish: Finish | null = null;

  constructor(
    private readonly limits: { answerLength: number; callsPerStep: number },
    private readonly uniqueId: (id: string) => string,
    private live: LiveAnswer | null = null,
  ) {}

  add(part: ModelPart): void {
    if (part.type === 'finish') {
      this.close();
      this.finish = part;
    } else if (part.type === 'tool_call') this.addCall(part);
    else if (part.type === 'tool_input') this.grow(0, (this.arriving += part.length));
    else this.addChunk(part);
  }

  /** Throws {@link ModelError} when the stream broke off or said nothing. */
  result(): ModelAnswer {
    const { finish } = this;
    if (finish === null) throw new ModelError("The model's provider broke off its answer.", true);
    const failure = this.failureOf(finish);
    // Without its calls the parts behind them have other indexes than those that were streamed.
    if (failure !== null && this.calls.length > 0) this.live?.discard();
    const parts: StoredPart[] = this.parts.filter((part) => failure === null || part.type !== 'tool');
    const truncated = failure === null && finish.reason === 'length';
    const last = parts.at(-1);
    // The limit came within this call or right behind it. Some servers close the brackets of what they truncate, so it may look whole.
    if (truncated && last?.type === 'tool') last.cut = true;
    if (parts.length > 0) parts.unshift({ type: 'step_start' });
    const calls = failure === null ? this.calls : [];
    return { parts, calls, usage: counted(finish.usage), failure, truncated: truncated && calls.length === 0 };
  }

  /** The attempt is given up: what comes still, from a stream that is slow to end, is passed on no more. */
  giveUp(): void {
    this.live?.discard();
    this.live = null;
  }

  private failureOf(finish: Finish): ModelAnswer['failure'] {
    if (finish.failure !== undefined) return { ...finish.failure, retryable: false };
    if (finish.reason === 'content_filter') {
      return { code: 'content_filter', message: "The model's provider withheld the answer.", retryable: false };
    }
    const said = this.parts.some((part) => part.type === 'text');
    if (this.calls.length > 0 || said) return null;
    if (finish.reason !== 'length') throw new EmptyAnswerError('The model gave an empty answer.', true);
    const message = 'The model reached its output limit before it said anything.';
    throw new EmptyAnswerError(message, true, null, { code: 'output_limit' });
  }

  private addChunk(chunk: Extract<ModelPart, { type: 'text' | 'reasoning' }>): void {
    const { type, text, end, providerMetadata } = chunk;
    if (text === '' && end === undefined && providerMetadata === undefined) return;
    this.grow(text.length);
    if (this.open?.type !== type) this.close();
    this.open ??= { type, text: '' };
    this.open.text += text;
    this.live?.words(type, text);
    if (providerMetadata !== undefined)
      this.open.providerMetadata = merge(this.open.providerMetadata, providerMetadata);
    if (end === true) this.close();
  }

  private close(): void {
    const { open } = this;
    this.open = null;
    if (open === null) return;
    // Hidden reasoning has no text, but its signature must go back to the provider.
    if (open.text === '' && (open.type === 'text' || open.providerMetadata === undefined)) return;
    const { providerMetadata } = open;
    this.live?.closed(open.text === '' ? 'sealed' : open.type);
    this.parts.push({ ...open, text: cleanText(open.text), ...cleanMetadata(providerMetadata) });
  }

  private addCall(call: Extract<ModelPart, { type: 'tool_call' }>): void {
    this.close();
    this.arriving = 0;
    this.grow(call.input.length);
    if (this.calls.length >= this.limits.callsPerStep) {
      throw new ModelError(`The model asked for more than ${this.limits.callsPerStep} tools at once.`, true);
    }
    const toolCallId = this.uniqueId(call.toolCallId);
    this.live?.closed('tool');
    const { providerMetadata } = call;
    const meant = call.deliberate === true ? { deliberate: true as const } : {};
    this.parts.push({ type: 'tool', toolCallId, ...meant, ...cleanMetadata(providerMetadata) });
    this.calls.push({ toolCallId, name: cleanText(bareName(call.name).slice(0, 200)), input: call.input });
  }

  private grow(by: number, arriving = 0): void {
    this.length += by;
    if (this.length + arriving > this.limits.answerLength)
      throw new ModelError('The answer of the model does not end.', false);
  }
}

/** The namespaces that models learn their tools in. */
const NAMESPACE = /^(?:functions|default_api|tools?)[.:](?=.)/;

/** `functions.bash`, `default_api:bash` and `bash<|channel|>commentary` are `bash`: models of one provider write them for another's tools. */
function bareName(name: string): string {
  const [said = ''] = name.trim().split('<|');
  return said.replace(NAMESPACE, '') || name;
}

function cleanMetadata(metadata: ProviderMetadata | undefined): { providerMetadata?: ProviderMetadata } {
  if (metadata === undefined) return {};
  return { providerMetadata: cleanJson(metadata as JsonValue, JSON.stringify(metadata)) as ProviderMetadata };
}

/** What a provider counts, as the database can hold it: some send fractions, negative numbers or nonsense. */
function counted(usage: ModelUsage): ModelUsage {
  const whole = (n: number) => (Number.isFinite(n) ? Math.min(Math.max(0, Math.round(n)), MAX_TOKENS) : 0);
  return {
    inputTokens: whole(usage.inputTokens),
    outputTokens: whole(usage.outputTokens),
    cachedInputTokens: whole(usage.cachedInputTokens),
    reasoningTokens: whole(usage.reasoningTokens),
  };
}

function merge(one: ProviderMetadata | undefined, other: ProviderMetadata): ProviderMetadata {
  const merged: ProviderMetadata = { ...one };
  for (const [provider, values] of Object.entries(other)) merged[provider] = { ...merged[provider], ...values };
  return merged;
}
