import type { Readable } from 'node:stream';
import type { ConversationMessage, JsonValue, StoredPart, ToolResult } from '../models/conversation.js';
import type { Effort, ModelUsage } from '../models/model-provider.js';
import type { SharedFile } from '../sandbox/sandbox.js';
import type { PublishedFile, Question } from './agent-tool.js';

/** Limits of one turn; absent means none. */
export interface Budget {
  maxSteps?: number;
  maxTokens?: number;
  maxDurationSeconds?: number;
  /** USD, a decimal number with at most 6 decimals. */
  maxCost?: string;
}

/** What is asked about before it is done: nothing, or each command and file change (reference §4). */
export const APPROVALS = ['none', 'writes'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** What the turn has used before this run began: a turn may span several runs. */
export interface Spent {
  steps: number;
  tokens: number;
  durationMs: number;
  costMicros: number;
}

/** A file that must lie in the workdir before the first tool runs. */
export interface InputFile {
  /** Relative to the workdir, for example `attachments/data.csv`. */
  path: string;
  open(): Promise<Readable>;
}

export interface AgentInput {
  taskId: string;
  workspaceId: string;
  /** The owner of the task: the user who made it, or to whom it was transferred. */
  userId: string;
  runId: string;
  /** A UUIDv7 for each assistant message is made by the engine. */
  model: { id: string; effort: Effort | null };
  /** Oldest first. The last message may be an assistant's with open invocations: a crash or a question left them. */
  messages: ConversationMessage[];
  /** What a person must approve first. An approved call carries that itself, as its `stage`. */
  approvals: Approvals;
  /** Names of tools that need no more asking in this task. */
  approvedTools: string[];
  budget: Budget;
  spent: Spent;
  files: InputFile[];
  /** Files of the task's project, for `/project` in the sandbox. */
  project: SharedFile[];
  /** Why the workspace can store no more, a clause for people: no command runs and no file changes. Null or absent: it can. */
  storageExhausted?: string | null;
  /** Why the workspace may use no more, a clause for people: no model is called. Null or absent: it may. */
  usageExhausted?: string | null;
  /** Aborted on cancel, loss of the lease or shutdown: the engine stops at once, closes its sandbox and throws the reason. */
  signal: AbortSignal;
  /**
   * Aborted before that when the worker is told to stop: the engine carries out and yields the calls of the step that it has
   * yielded, asks the model no more, gives up a model call under way, and throws the reason. Some seconds later `signal` is
   * aborted too. An engine that does not heed it loses the step that is under way then.
   */
  stopping: AbortSignal;
}

/** One tool call as recorded before anything acts on it. */
export interface StartedCall {
  toolCallId: string;
  name: string;
  input: JsonValue;
}

/**
 * What happens, in order. Each is yielded before the engine goes on, and `yield` resumes only after it is committed.
 * Texts hold neither NUL nor halves of surrogate pairs: PostgreSQL refuses both.
 *
 * - `step`: a model call is over. Its message is recorded, `complete` when it has no calls, else `in_progress`.
 * - `begin`: in a task with approvals, a call that must not be run twice is about to run. After a crash it is found
 *   `begun`; there a call may stay open for days before it begins, so its being open says nothing.
 * - `tool`: one call is finished. `last` when the message has no open call left: it becomes `complete`.
 */
export type AgentEvent =
  | { type: 'step'; messageId: string; parts: StoredPart[]; calls: StartedCall[]; usage: ModelUsage }
  | { type: 'begin'; messageId: string; toolCallId: string }
  | {
      type: 'tool';
      messageId: string;
      toolCallId: string;
      result: ToolResult;
      files: PublishedFile[];
      parts: StoredPart[];
      last: boolean;
      /** The workdir's size as last measured; null or absent: not known. */
      workdirBytes?: number | null;
    };

/** What the recorder tells the engine after each event. */
export interface AgentFeedback {
  /** Messages to read before the next model call. */
  steer: ConversationMessage[];
  /** What is attached to them: must lie in the workdir before the next tool runs. */
  files: InputFile[];
  /** As of {@link AgentInput}, as they are now. Absent: as before. */
  storageExhausted?: string | null;
  usageExhausted?: string | null;
}

/** How a run ends. */
export type AgentOutcome =
  | { type: 'completed'; text: string }
  | { type: 'failed'; code: string; message: string; retryable: boolean }
  | { type: 'question'; messageId: string; toolCallId: string; question: Question }
  /** An open call waits for a person. Approved, it comes back with its `stage`; denied, with its result. */
  | { type: 'approval'; messageId: string; toolCallId: string; question: string };

/**
 * Drives one run: model, tools, model, until it is done, asks, fails or is stopped. It writes nothing itself: it yields
 * and the recorder writes. It throws only when `signal` or `stopping` is aborted (with its reason), when the sandbox has no place for the
 * run (`SandboxBusyError`, before the first event: the run goes back to the queue) or on a defect; everything a model, a
 * tool or a provider can do wrong is a result, a retry or the outcome `failed`.
 */
export abstract class AgentEngine {
  abstract run(input: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback>;
}
