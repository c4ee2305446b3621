import type { ConversationMessage, ProviderMetadata } from './conversation.js';
import type { FileKind, RequestFiles } from './request-files.js';

export type Effort = 'low' | 'medium' | 'high';

/** What `GET /v1/models` shows of a model (reference §15). Provider, route and tier stay inside. */
export interface ModelInfo {
  /** Public id, the operator's choice. */
  id: string;
  name: string;
  description: string;
  efforts: Effort[];
  defaultEffort: Effort | null;
  input: ('text' | FileKind)[];
  /** Tokens; null when unknown. */
  contextWindow: number | null;
  /** It reads a conversation of any length, and needs all of it. */
  anyLength?: true;
  status: 'available' | 'unavailable';
}

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema, draft 7, of an object. */
  inputSchema: Record<string, unknown>;
  /** Where the API takes that, a model writes the call as plain text in place of JSON. */
  freeform?: Freeform;
}

/** A call as plain text: the whole of it is one field of the arguments. */
export interface Freeform {
  field: string;
  /** What the text looks like, in Lark. */
  grammar: string;
}

export interface ModelRequest {
  modelId: string;
  effort: Effort | null;
  system: string;
  messages: ConversationMessage[];
  tools: ToolDefinition[];
  /** Pictures and documents of the conversation, for models that read them. Absent: they are named and not sent. */
  files?: RequestFiles;
  /** The same for all calls of a task: a provider that keeps what it has read finds it by that. Absent: none. */
  cacheKey?: string;
  /** Aborting it ends the stream with the signal's reason. */
  signal: AbortSignal;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
}

/**
 * What a model says, in order. `text` and `reasoning` are chunks: consecutive ones of a kind belong together until `end`.
 * An empty chunk is a sign of life: the loop ends a stream that stays silent too long.
 */
export type ModelPart =
  | { type: 'text'; text: string; end?: boolean; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning'; text: string; end?: boolean; providerMetadata?: ProviderMetadata }
  /** So many characters of the arguments of a call that is being written: a sign of life, and counted, for some do not end. */
  | { type: 'tool_input'; length: number }
  /**
   * `input` is JSON text, not yet checked. `deliberate`: the same call as before is meant, as in a script that has the
   * same line twice, and is no sign of a model that goes in circles.
   */
  | {
      type: 'tool_call';
      toolCallId: string;
      name: string;
      input: string;
      deliberate?: boolean;
      providerMetadata?: ProviderMetadata;
    }
  /** Exactly one, the last part. `failure` ends the turn as `failed` after what was said is on record. */
  | {
      type: 'finish';
      reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';
      usage: ModelUsage;
      failure?: { code: string; message: string };
    };

/**
 * A source of models. `list` is called at boot and for every `GET /v1/models`: it must answer from memory.
 * `stream` is called once per model step and never retried inside: it throws {@link ModelError} and the loop decides.
 * A stream that ends without `finish` counts as broken off.
 */
export abstract class ModelProvider {
  /** False: its models make nothing of a task's surroundings, and the service does not send them. */
  readonly wantsSurroundings: boolean = true;
  /** False: its models make no titles of tasks. */
  readonly makesTitles: boolean = true;
  /** True: the model was trained on the patches of `apply_patch`, which it is offered in place of `edit` and `write`. */
  writesPatches(_modelId: string): boolean {
    return false;
  }
  abstract list(): ModelInfo[];
  abstract stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** Why a call failed, as a code of `statusReason` (reference §4). */
export type ModelFailureCode =
  'model_error' | 'model_credentials' | 'model_gone' | 'model_quota' | 'model_overloaded' | 'output_limit';

/** A model call that failed. The message is shown to the client: no addresses, no keys, no response bodies. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    message: string,
    /** Worth another try in a moment. */
    readonly retryable: boolean,
    /** What the provider asked for (`Retry-After`), milliseconds. */
    readonly retryAfterMs: number | null = null,
    options: ErrorOptions & { code?: ModelFailureCode } = {},
  ) {
    super(message, options);
    this.code = options.code ?? 'model_error';
  }

  readonly code: ModelFailureCode;
}

/** The conversation is longer than the model can read: one that is shorter may go well. */
export class ContextOverflowError extends ModelError {
  constructor(
    /** Tokens that the model can read, where the provider says. */
    readonly contextWindow: number | null,
    options?: ErrorOptions,
    /** The fallback whose window is too small; null: the model that was asked. */
    readonly refusedBy: string | null = null,
  ) {
    super('The conversation is longer than the model can read.', false, null, options);
  }
}

/** Whether a provider refused a request for what is in it: no other try, and no other model, is asked the same. */
export function isRefusal({ code, retryable }: ModelError): boolean {
  return code === 'model_error' && !retryable;
}
