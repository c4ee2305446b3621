// The languages in which programs talk to models (reference §30), each read and written here as the service needs it. Pure: bytes and
// objects in, bytes and objects out.
import type { ModelUsage } from '../../models/model-provider.js';
import type { Fields } from './fields.js';

export const WIRE_NAMES = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;
export type WireName = (typeof WIRE_NAMES)[number];

/** A call as the model wrote it. */
export interface WireCall {
  toolCallId: string;
  /** A tool within a namespace is called `namespace.tool`, one of an MCP server `mcp__server__tool`. */
  name: string;
  /** JSON text, not yet checked. Of a call that is plain text: `{"input": <the text>}`. */
  input: string;
  /** Of a call that is no ordinary one: its type in the wire, by which it is said again. */
  form?: string;
  /** In which its tool stands. */
  namespace?: string;
}

export interface WireResult {
  toolCallId: string;
  text: string;
  /** Of the three wires `anthropic-messages` alone says it. */
  isError: boolean;
}

/** One message of a request: the same for all wires. */
export interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  calls: WireCall[];
  results: WireResult[];
}

/** What a program asks of its model. */
export interface WireRequest {
  /** As it was sent. */
  body: Fields;
  streams: boolean;
  /** Tools of the program's own that are offered, without the hidden ones, each once. Empty: a call beside the work, such as one for a title. */
  tools: string[];
  /** What is said in it, the oldest first. */
  messages: WireMessage[];
  /** Results of calls that it tells, of the whole conversation, the oldest first. */
  results: WireResult[];
}

/** A request that is none of its wire, or asks for what no program gets here. The message is for the program. */
export class BadWireRequest extends Error {
  override readonly name = 'BadWireRequest';
}

/** How a request goes on to the provider. */
export interface Forwarding {
  /** The provider's own name of the model. */
  model: string;
  /** Null: the program's own choice stays. */
  effort: 'low' | 'medium' | 'high' | null;
  /** Names of tools, or of whole namespaces, that are taken out. */
  hide: readonly string[];
  /** Types of tools run by the provider that stay, with or without the date in them: `web_search`. */
  providerTools: readonly string[];
}

/** A piece of what a model says, as it comes. */
export interface Words {
  kind: 'text' | 'reasoning';
  delta: string;
}

export interface WireAnswer {
  /** All {@link Words} of the kind, one after the other. */
  text: string;
  reasoning: string;
  calls: WireCall[];
  /** `inputTokens` with those read from a cache, `outputTokens` with those of reasoning. */
  usage: ModelUsage;
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';
  /** What the provider says went wrong, or why the answer cannot be read. Not for clients: see `failureOf`. */
  failed: { code: string; message: string } | null;
  /** Whether it came to its end. */
  complete: boolean;
  /** The answer in the wire's own items, with what belongs to them alone (seals of reasoning), for `say`. */
  own: Fields[];
}

/** Reads one answer. */
export interface AnswerReader {
  /** The next bytes, of any number; answers with the words in them. Throws `ModelError` when the answer is far too long. */
  add(chunk: Uint8Array): Words[];
  /** The end of the bytes, whether or not it is that of the answer. */
  end(): WireAnswer;
}

/** What an answer of our own says. */
export interface Said {
  /** Absent: no words, also none of those in `own`. */
  text?: string;
  /** The same. An empty one stands for reasoning that was sealed. */
  reasoning?: string;
  /** Those that the program gets, all others are left out. */
  calls: readonly WireCall[];
  /** The items of the answer that is said again. They are said as they came, as far as text, reasoning and calls are given. */
  own?: readonly Fields[];
  /** What the program takes the size of its context from. */
  usage?: ModelUsage;
  /** Absent, and of an answer that came to its own end: as the calls are. */
  finish?: WireAnswer['finish'];
}

export interface Wire {
  readonly name: WireName;
  /** Of the address at which a program asks. */
  readonly path: string;
  /** Headers of the program's request that go to the provider. */
  readonly headers: readonly string[];
  /** Throws {@link BadWireRequest}. */
  read(body: unknown, hide?: readonly string[]): WireRequest;
  /** The body for the provider: without what is hidden or run by the provider; model, effort and what nobody may choose set; the rest as it is. */
  forward(request: WireRequest, about: Forwarding): Fields;
  /** Streamed or not, by the content type. */
  answer(contentType: string): AnswerReader;
  /**
   * An answer in the form that the request wants. Also for one that goes to the program whole: the bytes of the provider hold the real name
   * of the model.
   */
  say(request: WireRequest, what: Said): { contentType: string; body: string };
  /** An error in the wire's own form. */
  error(status: number, code: string, message: string): { status: number; contentType: string; body: string };
}

/** Why an answer of our own ends. */
export function endOf({ calls, finish }: Said): 'stop' | 'tool_calls' | 'length' | 'content_filter' {
  if (finish === 'length' || finish === 'content_filter') return finish;
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

export const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
export const JSON_TYPE = 'application/json';
export const STREAM_TYPE = 'text/event-stream';
