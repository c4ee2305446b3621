// What goes on around a turn, the same for the loop and for agent programs.
import type { Logger } from '@nestjs/common';
import type { ConversationMessage } from '../models/conversation.js';
import type { ModelCatalog } from '../models/model-catalog.js';
import type { Env } from '../../platform/config/env.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { causesOf } from '../../platform/logging/redaction.js';
import type { Metrics } from '../../platform/metrics/metrics.js';
import { SandboxBusyError, SandboxError } from '../sandbox/sandbox.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome } from './agent-engine.js';
import type { SecretToUse } from './agent-tool.js';
import { NONE_LEFT, PASSED, runChecks } from './check-steps.js';
import type { EarlierCommand } from './commands/input-commands.js';
import { readCommands, toldCommands } from './commands/told-commands.js';
import type { ContextWindows } from './context/context-windows.js';
import type { LazySandbox } from './lazy-sandbox.js';
import type { ListCache } from './mcp/list-cache.js';
import { TaskMcp } from './mcp/task-mcp.js';
import type { ModelCaller } from './model-caller.js';
import { bringIn, tellChanges, type Verify } from './repository-steps.js';
import { DELEGATE } from './tools/delegate.js';
import { USE_SECRET } from './tools/use-secret.js';
import { WEB_FETCH } from './tools/web-fetch.js';
import { TITLE_ANSWER, type TitleAsk, withTitle } from './title-call.js';
import type { TurnLimits } from './turn-limits.js';
import { type Failure, sandboxUnavailable } from './turn-outcomes.js';

type Steps = AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback>;
export type Report = (error: Error, level?: 'error' | 'warn' | 'debug') => void;

/** Writes what goes wrong in a run into the log. @param hide as of {@link causesOf}. */
export function reportOf(
  logger: Logger,
  hide: (line: string) => string,
  { workspaceId, taskId, runId }: AgentInput,
): Report {
  return (error, level = 'error') => {
    const cause = causesOf(error, hide);
    const msg = `Task ${taskId}: ${error.message}`;
    logger[level]({ workspaceId, taskId, runId, msg, ...(cause !== null && { cause }) });
  };
}

/** Names of the tools that a task has for what it may, beside those that every task has. */
export function furtherTools({ web, delegation }: AgentInput, secrets: readonly SecretToUse[] | null): string[] {
  return [
    ...((secrets ?? []).length > 0 ? [USE_SECRET] : []),
    ...(web === undefined ? [] : [WEB_FETCH]),
    ...(delegation === undefined ? [] : [DELEGATE]),
  ];
}

interface Serving {
  windows: ContextWindows;
  lists: ListCache;
  metrics: Metrics;
  env: Env;
  report: Report;
}

/** The servers of a run; null: it has none. */
export function mcpOf(
  input: AgentInput,
  sandbox: LazySandbox,
  { windows, lists, metrics, env, report }: Serving,
): TaskMcp | null {
  if (input.mcp === undefined || input.checks?.again === true) return null;
  const model = { id: input.model.id, window: windows.of(input.model.id) };
  const about = { model, lists: lists.of(input.workspaceId), metrics, values: env.mcpValues, signal: input.signal };
  return new TaskMcp(input.mcp, { ...about, sandbox: () => sandbox.get(), report });
}

/** Sets aside what the run needs, brings its repository and its servers in. How the run ends without them; null: all is there. */
export async function* madeReady(
  input: AgentInput,
  sandbox: LazySandbox,
  mcp: TaskMcp | null,
  report: Report,
): AsyncGenerator<AgentEvent, AgentOutcome | null, AgentFeedback> {
  const failed = await sandbox.reserve().then(
    () => null,
    (error: unknown) => notOpened(error, report),
  );
  if (failed !== null) return failed;
  const absent = yield* bringIn(input, sandbox, report);
  if (absent !== null) return absent;
  return (await mcp?.begin().catch((error: unknown) => notOpened(error, report))) ?? null;
}

interface Judging {
  sandbox: LazySandbox;
  mcp: TaskMcp | null;
  limits: TurnLimits;
  report: Report;
}

/** As of {@link tellChanges}, when nothing of the agent runs any more. */
export async function* judged(input: AgentInput, outcome: AgentOutcome, { sandbox, mcp, limits, report }: Judging) {
  await mcp?.close();
  await sandbox.endShared();
  return yield* tellChanges(input, outcome, sandbox, verifying(input, sandbox, limits, report), report);
}

interface Titling {
  models: ModelCatalog;
  caller: ModelCaller;
  limits: TurnLimits;
  report: Report;
}

/** The steps of a run, of a task without a title with one: when its first answer is still to come, and may be asked for. */
export function titled(input: AgentInput, steps: Steps, { models, caller, limits, report }: Titling): Steps {
  const { messages, signal, stopping } = input;
  const { id: modelId } = input.model;
  const [first] = messages;
  const isNew = input.untitled === true && messages.every(({ role }) => role === 'user');
  const mayAsk = input.usageExhausted == null && limits.exceeded() === null;
  if (first === undefined || !isNew || !mayAsk || !models.makesTitles(modelId)) return steps;
  if (!models.health.isWell(modelId)) return steps;
  const ask: TitleAsk = (request) => caller.once({ modelId, ...request }, TITLE_ANSWER);
  const failed = (error: Error) => report(new Error(`It gets no title. ${error.message}`), 'debug');
  const about = { first, ask, signals: [signal, stopping], failed };
  return withTitle(steps, about, ({ usage, model }) => limits.spend(usage, model));
}

/** With the checks that the task has by then. */
function verifying(
  input: AgentInput,
  sandbox: LazySandbox,
  limits: TurnLimits,
  report: (error: Error) => void,
): Verify {
  return async function* (changes) {
    const { checks = null, checksNow } = input;
    const now = checksNow === undefined ? checks : await checksNow();
    if (now === null) return checks?.again === true ? NONE_LEFT : PASSED;
    // Without a repository they begin with the workdir, and no tool may have wanted that yet.
    const work = changes === null ? await withFiles(sandbox, report) : changes;
    return yield* runChecks(now, input, work, now.repairs, limits);
  };
}

/** Null: what a check copies is there. */
async function withFiles(sandbox: LazySandbox, report: (error: Error) => void): Promise<null | 'unknown'> {
  try {
    await sandbox.layFiles();
    return null;
  } catch (error) {
    if (!(error instanceof SandboxError) || error instanceof SandboxBusyError) throw error;
    report(error);
    return 'unknown';
  }
}

/** What has become of commands, which the model reads first. */
export function* tellEnded(
  ended: readonly EarlierCommand[],
): Generator<AgentEvent, ConversationMessage[], AgentFeedback> {
  if (ended.length === 0) return [];
  const told = toldCommands(ended);
  yield told;
  const read = readCommands(told.messageId, told.parts);
  return read === null ? [] : [read];
}

/** A run whose sandbox is busy is queued again until one is free. Any other fault is for the operator, and a further message tries again. */
export function notOpened(error: unknown, report: (error: Error) => void): Failure {
  if (!(error instanceof SandboxError) || error instanceof SandboxBusyError) throw error;
  // A file of the task could not be looked up; the sandbox is well.
  if (isPassing(error.cause)) throw error.cause;
  report(error);
  return sandboxUnavailable();
}

export function modelGone(id: string): AgentOutcome {
  const message = `The model '${id}' is not offered here any more.`;
  return { type: 'failed', code: 'model_not_available', message, retryable: false };
}
