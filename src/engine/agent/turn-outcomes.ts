// How the run of a turn ends, and the results of calls that are not carried out.
import { type ConversationMessage, OWN, RAN_PARTLY, type StoredPart, type ToolResult } from '../models/conversation.js';
import { ModelError } from '../models/model-provider.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { SandboxError } from '../sandbox/sandbox.js';
import type { AgentOutcome } from './agent-engine.js';
import type { PublishedFile, Question } from './agent-tool.js';
import type { HandedTasks } from './delegation.js';
import { McpUnavailableError } from './mcp/failures.js';
import { wholeAnswer } from './truncated-answer.js';

export type Failure = Extract<AgentOutcome, { type: 'failed' }>;
/** Why the run ends after a call: its outcome, and the error of the calls after it. */
export type Ending = { outcome: Failure; others: string };
/** The call waits for a person, or for tasks. */
export type Asked = { question: Question } | { handed: HandedTasks | null };
export type Finished = { result: ToolResult; files: PublishedFile[]; parts: StoredPart[]; ending: Ending | null };

export const INTERRUPTED = `This was interrupted; ${RAN_PARTLY} It was not run again: look at the state of the workdir before you go on.`;

/** Closes the files that a call has handed over: they are stored, or not needed. */
export function closeFiles(done: Finished | Asked): void {
  if ('files' in done) for (const { content } of done.files) content.destroy();
}

/** The same of tasks that are stored, or not needed. */
export async function closeHanded(handed: HandedTasks | null): Promise<void> {
  if (handed === null) return;
  for (const { files } of handed.tasks) for (const { content } of files) content.destroy();
  handed.base?.content.destroy();
  await handed.close();
}

/** How the last message, which has no calls, ends the turn; null when it was truncated: the next call goes on with it. */
export function endOf(
  conversation: readonly ConversationMessage[],
  failure: Omit<Failure, 'type'> | null,
): AgentOutcome | null {
  if (failure !== null) return { type: 'failed', ...failure };
  const text = wholeAnswer(conversation);
  return text === null ? null : { type: 'completed', text };
}

/** Of what a provider threw; throws what is no failure of a model. */
export function modelFailed(error: unknown): Failure {
  if (!(error instanceof ModelError)) throw error;
  const { code, message, retryable, retryAfterMs } = error;
  return { type: 'failed', code, message, retryable, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}

/** The outcome of a run whose sandbox failed. The client learns only that; the log says why. */
export function sandboxUnavailable(): Failure {
  const message = 'The sandbox could not be started on this server; its log says why.';
  return { type: 'failed', code: 'sandbox_unavailable', message, retryable: true };
}

/** Of a call for which no sandbox could be had. */
function sandboxFailed(): Finished {
  const others = 'Not started, because the sandbox could not be started.';
  const ending = { outcome: sandboxUnavailable(), others };
  return { ...refused('The sandbox could not be started; nothing was run.'), ending };
}

/** The turn cannot go on without a server that the operator requires (reference §28). @param why with its name, a clause. */
export function mcpUnavailable(why: string): Failure {
  const message = `A server that this task needs cannot be used: ${why}.`;
  return { type: 'failed', code: 'mcp_unavailable', message, retryable: true };
}

/** Of a call to it. */
function mcpFailed(why: string): Finished {
  const others = 'Not started, because a server that this task needs cannot be used.';
  return { ...refused(`Nothing was sent: ${why}.`), ending: { outcome: mcpUnavailable(why), others } };
}

/** Of a call that failed for what the turn cannot go on without. Throws an error that is none of that. */
export function failedBy(error: unknown): Finished {
  if (error instanceof McpUnavailableError) return mcpFailed(error.message);
  if (!(error instanceof SandboxError)) throw error;
  // A file of the task could not be looked up; the sandbox is well. The run is let go, and taken up again.
  if (isPassing(error.cause)) throw error.cause;
  return sandboxFailed();
}

export function refused(error: string): Finished {
  return { result: { status: 'error', error }, files: [], parts: [], ending: null };
}

/** The workspace is above its limit: people must delete something first. */
export function aboveStorage(why: string): Failure {
  const message = `${why}: delete tasks, or files of projects, then send a message to go on.`;
  return { type: 'failed', code: 'storage_exhausted', message, retryable: true };
}

/** A command or a file change in such a workspace ends the turn. */
export function storageExhausted(why: string): Finished {
  return {
    ...refused(`Nothing was run: ${why}.`),
    ending: { outcome: aboveStorage(why), others: `Not started: ${why}.` },
  };
}

/** The next window, or an operator, lets a further message go on. */
export function usedUp(why: string): Failure {
  return { type: 'failed', code: 'usage_exhausted', message: `${why}.`, retryable: true };
}

export function noProgress(message: string): Failure {
  return { type: 'failed', code: 'no_progress', message, retryable: true };
}

/** Notes in the message that it ended the turn as failed, for a run that finds it without the end on record. */
export function withFailure(parts: StoredPart[], failure: Omit<Failure, 'type'>): StoredPart[] {
  const last = parts.findLastIndex((part) => part.type === 'text');
  return parts.map((part, index) => {
    if (index !== last || part.type !== 'text') return part;
    const own = { ...part.providerMetadata?.[OWN], failure };
    return { ...part, providerMetadata: { ...part.providerMetadata, [OWN]: own } };
  });
}

export function failureIn(parts: StoredPart[]): Omit<Failure, 'type'> | null {
  for (const part of parts) {
    const failure = part.type === 'text' ? part.providerMetadata?.[OWN]?.['failure'] : undefined;
    if (failure !== undefined) return failure as Omit<Failure, 'type'>;
  }
  return null;
}
