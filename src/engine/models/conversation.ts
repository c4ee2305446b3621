// The conversation as it is stored and as a model sees it: one shape for rows, engine and providers.

/** Opaque data that a provider wants back in its next call (signatures of reasoning and the like). Never leaves the service. */
export type ProviderMetadata = Record<string, Record<string, unknown>>;

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A part as stored in `messages.parts`. A `tool` part points at a row of `tool_invocations` of the same message. */
export type StoredPart =
  | { type: 'text'; text: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata }
  | { type: 'tool'; toolCallId: string; providerMetadata?: ProviderMetadata }
  | { type: 'file'; fileId: string; name: string; mediaType: string; path: string }
  | { type: 'data'; name: string; id: string; data: JsonValue }
  | { type: 'source_url'; sourceId: string; url: string; title: string | null }
  | { type: 'source_document'; sourceId: string; mediaType: string; title: string; name: string | null }
  | { type: 'reasoning_file'; fileId: string; name: string; mediaType: string }
  | { type: 'custom'; kind: string; data: JsonValue }
  | { type: 'step_start' };

export type ToolResult =
  | { status: 'success'; output: JsonValue }
  | { status: 'error'; error: string }
  /** Not carried out, because a person said no. `reason` is for the model alone. */
  | { status: 'denied'; reason: string | null };

/** A tool invocation: one record with a state; `tool_call` and `tool_result` are two views of it. */
export interface ToolInvocation {
  toolCallId: string;
  name: string;
  /** As the model gave it, parsed; a string when it was no JSON. */
  input: JsonValue;
  /** Null while it runs, or when a crash or a question left it open. */
  result: ToolResult | null;
  /** Of an open call in a task with approvals: a person has approved it; it has begun. Null: neither. */
  stage: 'approved' | 'begun' | null;
}

/** One message in the order in which the model reads it. */
export interface ConversationMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: StoredPart[];
  invocations: ToolInvocation[];
}
