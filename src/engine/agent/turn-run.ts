import { isPassing } from '../../platform/database/database-errors.js';
import { newId } from '../../platform/database/ids.js';
import type { ConversationMessage, StoredPart, ToolInvocation, ToolResult } from '../models/conversation.js';
import { ModelError } from '../models/model-provider.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome } from './agent-engine.js';
import type { PublishedFile, Question } from './agent-tool.js';
import { needsApproval, recordsBeginning } from './approval.js';
import type { EngineSettings } from './engine-settings.js';
import type { LazySandbox } from './lazy-sandbox.js';
import type { ModelAnswer } from './model-answer.js';
import type { ModelCaller } from './model-caller.js';
import { SandboxError } from '../sandbox/sandbox.js';
import { SYSTEM_PROMPT } from './prompt.js';
import { repeatedError, repetitions } from './repetition.js';
import { parseArguments, type ReadyCall, type ToolRegistry } from './tool-registry.js';
import type { TurnLimits } from './turn-limits.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;
type Failure = Extract<AgentOutcome, { type: 'failed' }>;
/** Why the run ends after a call: its outcome, and what the calls after it are told. */
type Ending = { outcome: Failure; others: string };
type Finished = { result: ToolResult; files: PublishedFile[]; parts: StoredPart[]; ending: Ending | null };
type Asked = { question: Question };
type Waiting = { approval: string };

export interface TurnParts {
  caller: ModelCaller;
  tools: ToolRegistry;
  settings: EngineSettings;
  sandbox: LazySandbox;
  limits: TurnLimits;
  /** Receives what an operator must know and a client must not see. */
  report: (error: Error) => void;
}

const NOTHING_NEW: AgentFeedback = { steer: [], files: [] };

const INTERRUPTED =
  'This was interrupted; it may have run partly. It was not run again: look at the state of the workdir before you go on.';

/** One run of a turn: model, tools, model, until there is an outcome. */
export class TurnRun {
  private readonly conversation: ConversationMessage[];
  private readonly callIds: Set<string>;
  /** Ends a model call when the worker stops: the worker that takes over calls the model again. Tool calls have more time. */
  private readonly modelSignal: AbortSignal;
  private storageExhausted: string | null;
  private usageExhausted: string | null;

  constructor(
    private readonly input: AgentInput,
    private readonly deps: TurnParts,
  ) {
    this.conversation = input.messages.map((message) => ({
      ...message,
      invocations: message.invocations.map((one) => ({ ...one })),
    }));
    this.storageExhausted = input.storageExhausted ?? null;
    this.usageExhausted = input.usageExhausted ?? null;
    this.modelSignal = AbortSignal.any([input.signal, input.stopping]);
    this.callIds = new Set(this.conversation.flatMap((message) => message.invocations.map((one) => one.toolCallId)));
  }

  async *run(): Steps<AgentOutcome> {
    // The stop may have come while the run was loaded or its sandbox was set aside.
    this.input.stopping.throwIfAborted();
    const resumed = yield* this.resume();
    if (resumed !== null) return resumed;
    for (;;) {
      const over = this.deps.limits.exceeded();
      if (over !== null) return over;
      if (this.usageExhausted !== null) return usedUp(this.usageExhausted);
      const answer = await this.askModel();
      if ('type' in answer) return answer;
      const outcome = yield* this.step(answer);
      if (outcome !== null) return outcome;
    }
  }

  /** Finishes what an earlier run began: the calls it left open, or the end that it did not come to record. */
  private async *resume(): Steps<AgentOutcome | null> {
    const last = this.conversation.findLast((message) => message.role === 'assistant');
    if (last === undefined) return null;
    if (last.invocations.length > 0) return yield* this.carryOut(last, { resumed: true, repeated: 0 });
    return last === this.conversation.at(-1) ? endOf(last.parts, failureIn(last.parts)) : null;
  }

  private async askModel(): Promise<ModelAnswer | Failure> {
    const { model } = this.input;
    const { caller, tools } = this.deps;
    try {
      return await caller.call(
        {
          modelId: model.id,
          effort: model.effort,
          system: SYSTEM_PROMPT,
          messages: this.conversation,
          tools: tools.definitions(),
          signal: this.modelSignal,
        },
        (id) => this.uniqueId(id),
      );
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      return { type: 'failed', code: 'model_error', message: error.message, retryable: error.retryable };
    }
  }

  private async *step(answer: ModelAnswer): Steps<AgentOutcome | null> {
    const { usage, calls, failure } = answer;
    // A withheld answer without a word leaves no message.
    if (answer.parts.length === 0 && failure !== null) return { type: 'failed', ...failure };
    const parts = failure === null ? answer.parts : withFailure(answer.parts, failure);
    const invocations = calls.map(({ toolCallId, name, input }) => {
      return { toolCallId, name, input: parseArguments(input), result: null, stage: null };
    });
    const message: ConversationMessage = { id: newId(), role: 'assistant', parts, invocations };
    this.conversation.push(message);
    this.deps.limits.count(usage);
    const started = invocations.map(({ toolCallId, name, input }) => ({ toolCallId, name, input }));
    const steered = yield* this.tell({ type: 'step', messageId: message.id, parts, calls: started, usage });
    if (invocations.length === 0) return steered && failure === null ? null : endOf(parts, failure);
    const repeated = calls[0]?.deliberate === true ? 0 : repetitions(this.conversation);
    return yield* this.carryOut(message, { resumed: false, repeated });
  }

  /**
   * Finishes the open calls of a message in their order. Questions wait until the others are done; the first one ends the
   * run. A call that needs an approval ends it at once, because those after it may build on what it does. Calls are
   * carried out one after another, so after a crash only the first open one can have begun.
   */
  private async *carryOut(
    message: ConversationMessage,
    { resumed, repeated }: { resumed: boolean; repeated: number },
  ): Steps<AgentOutcome | null> {
    const { id: messageId } = message;
    const open = message.invocations.filter((one) => one.result === null);
    let left = open.length;
    let mayHaveBegun = resumed;
    let question: AgentOutcome | null = null;
    let ending: Ending | null = null;
    for (const call of open) {
      const { toolCallId } = call;
      const ready: Finished | Waiting | ReadyCall =
        ending === null ? this.prepare(call, mayHaveBegun, repeated) : refused(ending.others);
      if ('approval' in ready) return { type: 'approval', messageId, toolCallId, question: ready.approval };
      const done: Finished | Asked = 'tool' in ready ? yield* this.execute(messageId, call, ready) : ready;
      if ('question' in done) {
        question ??= { type: 'question', messageId, toolCallId, question: done.question };
        continue;
      }
      mayHaveBegun = false;
      ending ??= done.ending;
      call.result = done.result;
      left--;
      const { result, files, parts } = done;
      try {
        const { workdirBytes } = this.deps.sandbox;
        yield* this.tell({ type: 'tool', messageId, toolCallId, result, files, parts, last: left === 0, workdirBytes });
      } finally {
        for (const file of files) file.content.destroy();
      }
    }
    if (ending !== null) return ending.outcome;
    if (repeated >= this.deps.settings.repeatsFatal) return noProgress(repeated);
    return question;
  }

  /** What can be said of a call without starting it: the error for the model, the question for a person, or go. */
  private prepare(call: ToolInvocation, mayHaveBegun: boolean, repeated: number): Finished | Waiting | ReadyCall {
    const { tools, settings } = this.deps;
    if (repeated >= settings.repeatsRefused) return refused(repeatedError(repeated, settings.repeatsFatal));
    const checked = tools.check(call);
    if ('error' in checked) return refused(checked.error);
    const { tool } = checked;
    const begun = recordsBeginning(this.input, tool) ? call.stage === 'begun' : mayHaveBegun && !tool.repeatable;
    if (begun) return refused(INTERRUPTED);
    if (tool.changes && this.storageExhausted !== null) return storageExhausted(this.storageExhausted);
    return needsApproval(this.input, call, tool) ? { approval: tools.approvalQuestion(checked) } : checked;
  }

  private async *execute(messageId: string, { toolCallId }: ToolInvocation, ready: ReadyCall): Steps<Finished | Asked> {
    const { tools, sandbox } = this.deps;
    const { taskId, workspaceId, userId, signal } = this.input;
    if (recordsBeginning(this.input, ready.tool)) yield* this.tell({ type: 'begin', messageId, toolCallId });
    try {
      const about = { taskId, workspaceId, userId, toolCallId };
      const outcome = await tools.execute(ready, { ...about, signal, sandbox: () => sandbox.get() });
      if (outcome.status === 'question') return { question: outcome.question };
      const { files = [], parts = [], ...result } = outcome;
      return { result, files, parts, ending: null };
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      // A file of the task could not be looked up; the sandbox is well. The run is let go, and taken up again.
      if (isPassing(error.cause)) throw error.cause;
      this.deps.report(error);
      const others = 'Not started, because the sandbox could not be started.';
      return {
        ...refused('The sandbox could not be started; nothing was run.'),
        ending: { outcome: sandboxUnavailable(), others },
      };
    }
  }

  /** Yields an event and takes in what the recorder answers. True when there are new messages to read. */
  private *tell(event: AgentEvent): Generator<AgentEvent, boolean, AgentFeedback> {
    const feedback = (yield event) as AgentFeedback | undefined;
    this.input.signal.throwIfAborted();
    const { steer, files, storageExhausted, usageExhausted } = feedback ?? NOTHING_NEW;
    if (storageExhausted !== undefined) this.storageExhausted = storageExhausted;
    if (usageExhausted !== undefined) this.usageExhausted = usageExhausted;
    this.conversation.push(...steer);
    this.deps.sandbox.add(files);
    return steer.length > 0;
  }

  /** Models repeat the ids of their calls or leave them out; in a conversation they are unique. */
  private uniqueId(id: string): string {
    const usable = /^[\w.:-]{1,100}$/.test(id) && !this.callIds.has(id) ? id : `call_${newId()}`;
    this.callIds.add(usable);
    return usable;
  }
}

/** The outcome of a run whose sandbox failed. The client is told only that; the operator is told why. */
export function sandboxUnavailable(): Failure {
  const message = 'The sandbox could not be started on this server; its log says why.';
  return { type: 'failed', code: 'sandbox_unavailable', message, retryable: true };
}

function refused(error: string): Finished {
  return { result: { status: 'error', error }, files: [], parts: [], ending: null };
}

/** A command or a file change in a workspace that is above its limit ends the turn: people must delete something first. */
function storageExhausted(why: string): Finished {
  const message = `${why}: delete tasks, or files of projects, then send a message to go on.`;
  const others = `Not started: ${why}.`;
  return {
    ...refused(`Nothing was run: ${why}.`),
    ending: { outcome: { type: 'failed', code: 'storage_exhausted', message, retryable: true }, others },
  };
}

/** The next window, or an operator, lets a further message go on. */
function usedUp(why: string): Failure {
  return { type: 'failed', code: 'usage_exhausted', message: `${why}.`, retryable: true };
}

function noProgress(times: number): Failure {
  const message = `The model made the same tool call ${times} times in a row.`;
  return { type: 'failed', code: 'no_progress', message, retryable: true };
}

function endOf(parts: StoredPart[], failure: Omit<Failure, 'type'> | null): AgentOutcome {
  if (failure !== null) return { type: 'failed', ...failure };
  return { type: 'completed', text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n') };
}

const OWN = 'millwright';

/** Notes in the message that it ended the turn as failed, for a run that finds it without the end on record. */
function withFailure(parts: StoredPart[], failure: Omit<Failure, 'type'>): StoredPart[] {
  const last = parts.findLastIndex((part) => part.type === 'text');
  return parts.map((part, index) => {
    if (index !== last || part.type !== 'text') return part;
    return { ...part, providerMetadata: { ...part.providerMetadata, [OWN]: { failure } } };
  });
}

function failureIn(parts: StoredPart[]): Omit<Failure, 'type'> | null {
  for (const part of parts) {
    const noted = part.type === 'text' ? part.providerMetadata?.[OWN]?.['failure'] : undefined;
    if (noted !== undefined) return noted as Omit<Failure, 'type'>;
  }
  return null;
}
