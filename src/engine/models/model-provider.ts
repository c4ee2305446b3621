import type { ConversationMessage, ProviderMetadata } from './conversation.js';

export type Effort = 'low' | 'medium' | 'high';

/** What `GET /v1/models` shows of a model (reference §15). Provider, route and tier stay inside. */
export interface ModelInfo {
  /** Public id, the operator's choice. */
  id: string;
  name: string;
  description: string;
  efforts: Effort[];
  defaultEffort: Effort | null;
  input: ('text' | 'image' | 'file')[];
  /** Tokens; null when unknown. */
  contextWindow: number | null;
  status: 'available' | 'unavailable';
}

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema, draft 7, of an object. */
  inputSchema: Record<string, unknown>;
}

export interface ModelRequest {
  modelId: string;
  effort: Effort | null;
  system: string;
  messages: ConversationMessage[];
  tools: ToolDefinition[];
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
 * What a model says, in order. `text` and `reasoning` are pieces: consecutive ones of a kind belong together until `end`.
 * An empty piece is a sign of life: the loop ends a stream that stays silent too long.
 */
export type ModelPart =
  | { type: 'text'; text: string; end?: boolean; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning'; text: string; end?: boolean; providerMetadata?: ProviderMetadata }
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
  abstract list(): ModelInfo[];
  abstract stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** A model call that failed. The message is shown to the client: no addresses, no keys, no response bodies. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    message: string,
    /** Worth another try in a moment. */
    readonly retryable: boolean,
    /** What the provider asked for (`Retry-After`), milliseconds. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
