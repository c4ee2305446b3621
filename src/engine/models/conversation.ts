// The conversation as it is stored and as a model sees it: one shape for rows, engine and providers.

import type { StreamOrder } from '../sandbox/run-result.js';

/**
 * Opaque data that a provider wants back in its next call (signatures of reasoning and the like). Never leaves the service.
 * Under {@link OWN} stand notes of the service itself: `by`, the model that gave the rest, and `failure`, how the turn ended.
 */
export type ProviderMetadata = Record<string, Record<string, unknown>>;
export const OWN = 'millwright';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Whether a value is an object of JSON, and no list. */
export function isJsonObject(value: unknown): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A part as stored in `messages.parts`. A `tool` part points at a row of `tool_invocations` of the same message; `cut`: the
 * model came to its output limit while it wrote the call. Of a step, `nudged`: an empty answer was there before; `cut`: it ends
 * at the output limit, and the next one goes on with it.
 */
export type StoredPart =
  /** `named`: an agent has written it, for a task of its own; of the addresses in it others have named these (docs/decisions/0105). */
  | { type: 'text'; text: string; named?: readonly string[]; providerMetadata?: ProviderMetadata }
  /**
   * What the service tells the model before the first message of a task, in that message. The API never returns it (docs/decisions/0050). `notes`: the
   * owner's notes in folders of the repository, by their paths below it, with the SHA-256 of each as it was in the original commit.
   */
  | { type: 'surroundings'; text: string; notes?: Record<string, string> }
  | { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata }
  /** `deliberate`: the same call as before is meant, and counts as no repetition. */
  | { type: 'tool'; toolCallId: string; deliberate?: true; cut?: true; providerMetadata?: ProviderMetadata }
  | { type: 'file'; fileId: string; name: string; mediaType: string; path: string }
  /** As the last part of an answer, with the name `output_errors`: what does not fit the schema of the task (`nudges.ts`). */
  | { type: 'data'; name: string; id: string; data: JsonValue }
  | { type: 'source_url'; sourceId: string; url: string; title: string | null }
  | { type: 'source_document'; sourceId: string; mediaType: string; title: string; name: string | null }
  | { type: 'reasoning_file'; fileId: string; name: string; mediaType: string }
  | { type: 'custom'; kind: string; data: JsonValue }
  | { type: 'step_start'; nudged?: true; cut?: true; unshown?: true };

/** A picture or a document that a result shows to models that take such. Its bytes lie in the storage of the task's workspace. */
export interface KeptFile {
  sha256: string;
  mediaType: string;
  name: string;
  /** Bytes. */
  size: number;
  /** Of a picture, pixels. */
  width?: number;
  height?: number;
}

/** What the model alone reads of a result, beside the output: on record so that it reads the same again, and never shown by the API. */
export interface ForModel {
  /** How long a command took, milliseconds. */
  ms?: number;
  /** How the streams of a command lie in time. */
  streams?: StreamOrder;
  /** Characters that it is shown at most, where that is not the most for any model (`result-text.ts`). */
  characters?: number;
  /** The number of the file in the sandbox that has the whole, where a part is shown (`outputFile` in `result-lines.ts`). */
  whole?: number;
  /** What a check found wrong with the syntax of the files that the call has changed. */
  syntax?: string;
  /** Notes of the owner on the folder that the call came to, for the first time: path and text. */
  notes?: { file: string; text: string }[];
  /** What the network refused its command, in the words that this was answered: each of its kind once a run. */
  refused?: string[];
  /** What the loop says of it. */
  hint?: string;
  /** What the service says of a result from outside, which stands between marks behind it. Absent: it is none. */
  foreign?: string;
  /** What the folders of the task were like behind it, for the loop itself: looked at while steps are alike but for figures. */
  workdir?: string;
  /** What it shows beside the text. */
  files?: KeptFile[];
}

export type ToolResult =
  | { status: 'success'; output: JsonValue; forModel?: ForModel }
  | { status: 'error'; error: string; forModel?: ForModel }
  /** Not carried out, because a person said no. `reason` is for the model alone. */
  | { status: 'denied'; reason: string | null };

/** Behind the first semicolon in the error of each call that was cut off: by a message, a cancel, or the end of its worker. */
export const RAN_PARTLY = 'it may have run partly.';

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
  /** Of what the service says in the place of a user: no person has written it. */
  byService?: true;
  /** Of an answer as it is sent: of a turn that was over when something was left out of the conversation. */
  beforeCut?: true;
}

/** The arguments of a call as text: what a model wrote in place of JSON as it stands. */
export function argumentsText(input: JsonValue): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** The text of an answer, put together from its parts. */
export function textOf(parts: readonly StoredPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
