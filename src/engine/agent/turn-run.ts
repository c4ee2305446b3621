import { setMaxListeners } from 'node:events';
import type { ConversationMessage, ToolInvocation } from '../models/conversation.js';
import { ContextOverflowError, isRefusal, ModelError, type ModelRequest } from '../models/model-provider.js';
import { truncatedInARow } from '../models/nudges.js';
import { markedWithoutFiles, mayShow, type RequestFiles } from '../models/request-files.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome, ToldSurroundings } from './agent-engine.js';
import { type Approval, approvalOf, begunBefore, recordsBeginning } from './approval.js';
import { BesideResults } from './beside-results.js';
import { contextOf, handOver } from './call-context.js';
import { TRUNCATED_CALL, TRUNCATED_TOO_OFTEN, isTruncatedCall } from './truncated-answer.js';
import { markFolders } from './folder-mark.js';
import { type CallRef, LiveAnswer } from './live-answer.js';
import { uniqueIds } from './model-answer.js';
import type { CalledAnswer } from './model-caller.js';
import { ReadsAhead, runsBesideOthers } from './reads-ahead.js';
import { circling, deniedBefore, forget, withHint } from './repetition.js';
import { addSurroundings } from './surroundings.js';
import { parseArguments, type ReadyCall } from './tool-registry.js';
import type { TurnParts } from './turn-parts.js';
import {
  type Asked,
  type Ending,
  type Failure,
  failedBy,
  failureIn,
  type Finished,
  closeFiles,
  modelFailed,
  noProgress,
  refused,
  storageExhausted,
  usedUp,
} from './turn-outcomes.js';
import { waitsAfter } from './when-blocked.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;
type Waiting = { approval: Approval };

/** One run of a turn: model, tools, model, until there is an outcome. */
export class TurnRun {
  private readonly conversation: ConversationMessage[];
  private readonly uniqueId: (id: string) => string;
  private readonly beside: BesideResults;
  /** Ends a model call when the worker stops: the worker that takes over calls the model again. Tool calls have more time. */
  private readonly modelSignal: AbortSignal;
  private storageExhausted: string | null;
  private usageExhausted: string | null;
  /** The answer that is being made. */
  private live: LiveAnswer;
  /** What the model was sent and the recorder has not recorded yet. */
  private surroundings: ToldSurroundings | null = null;

  constructor(
    private readonly input: AgentInput,
    private readonly deps: TurnParts,
  ) {
    this.conversation = input.messages.map((message) => ({
      ...message,
      invocations: message.invocations.map((one) => ({ ...one })),
    }));
    this.beside = new BesideResults(this.conversation, deps);
    this.storageExhausted = input.storageExhausted ?? null;
    this.usageExhausted = input.usageExhausted ?? null;
    // Each call that runs listens to it, some to their own ends once more.
    setMaxListeners(0, input.signal);
    this.modelSignal = AbortSignal.any([input.signal, input.stopping]);
    this.uniqueId = uniqueIds(this.conversation);
  }

  /** @param told goes before all else; another run of the same turn goes on with it. */
  async *run(told: ConversationMessage[] = []): Steps<AgentOutcome> {
    this.conversation.push(...told);
    // The stop may have come while the run was loaded or its sandbox was set aside.
    this.input.stopping.throwIfAborted();
    const resumed = yield* this.resume();
    if (resumed !== null) return resumed;
    this.surroundings = await addSurroundings(this.conversation, this.deps.surroundings);
    await this.deps.context.warm(this.conversation, this.modelSignal);
    for (;;) {
      const over = this.deps.limits.exceeded();
      if (over !== null) return over;
      if (this.usageExhausted !== null) return usedUp(this.usageExhausted);
      const compaction = await this.compact();
      if (compaction?.type === 'failed') return compaction;
      if (compaction !== null) {
        if (compaction.usage !== null) this.deps.limits.count(compaction.usage, compaction.model);
        yield* this.emit(compaction);
        continue;
      }
      const answer = await this.askModel();
      if (answer === null) continue;
      if ('type' in answer) return answer;
      const outcome = yield* this.step(answer);
      if (outcome !== null) return outcome;
    }
  }

  /** Finishes what an earlier run began: the calls it left open, or the end that it did not come to record. */
  private async *resume(): Steps<AgentOutcome | null> {
    const last = this.conversation.findLast((message) => message.role === 'assistant');
    if (last === undefined) return null;
    if (last.invocations.length > 0) return yield* this.carryOut(last, this.input.untouched !== true);
    if (last !== this.conversation.at(-1)) return null;
    return await this.deps.output.end(this.conversation, failureIn(last.parts));
  }

  /** Compacts the conversation when it has become too long for the model. */
  private async compact(): Promise<Extract<AgentEvent, { type: 'cut' }> | Failure | null> {
    try {
      return await this.deps.context.compact(this.conversation, (request) => this.call(request));
    } catch (error) {
      return modelFailed(error);
    }
  }

  /** Null when the conversation was too long, and can be made shorter. */
  private async askModel(): Promise<CalledAnswer | Failure | null> {
    const { context, system, offered: tools } = this.deps;
    const messages = context.compacted(this.conversation);
    this.live = new LiveAnswer(this.input.passOn);
    try {
      return await this.call({ system, messages, tools }, this.live);
    } catch (error) {
      if (error instanceof ContextOverflowError && context.overflowed(this.conversation, error)) return null;
      return (await this.askInWords(messages, error)) ?? modelFailed(error);
    }
  }

  /** A file that a provider cannot read makes it refuse each request: it is asked again without any. Null when that is no help. */
  private async askInWords(messages: ConversationMessage[], refusal: unknown): Promise<CalledAnswer | null> {
    const { system, offered: tools, files, reads, report } = this.deps;
    if (!(refusal instanceof ModelError) || !isRefusal(refusal) || !mayShow(messages, reads)) return null;
    try {
      const answer = await this.call({ system, messages, tools }, this.live, files.inWords());
      const remedy = 'Without its pictures and PDF files it was answered: they are not sent again.';
      report(new Error(`${refusal.message} ${remedy}`));
      return { ...answer, parts: markedWithoutFiles(answer.parts) };
    } catch (error) {
      if (error instanceof ModelError) return null;
      throw error;
    }
  }

  private call(
    request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
    live: LiveAnswer | null = null,
    files: RequestFiles = this.deps.files,
  ): Promise<CalledAnswer> {
    const { taskId: cacheKey, model, waits } = this.input;
    const about = { modelId: model.id, effort: model.effort, files, cacheKey, signal: this.modelSignal };
    return this.deps.caller.call({ ...about, ...request }, this.uniqueId, live, waits);
  }

  private async *step(answer: CalledAnswer): Steps<AgentOutcome | null> {
    const { usage, calls, model } = answer;
    const truncatedAgain = answer.truncated && truncatedInARow(this.conversation) >= this.deps.settings.continuations;
    const broken = truncatedAgain ? TRUNCATED_TOO_OFTEN : answer.failure;
    // A withheld answer without a word leaves no message.
    if (answer.parts.length === 0 && broken !== null) return { type: 'failed', ...broken };
    const { parts, failure } = await this.deps.output.recorded(this.conversation, answer, broken);
    const invocations = calls.map(({ toolCallId, name, input }) => {
      return { toolCallId, name, input: parseArguments(input), result: null, stage: null };
    });
    const message: ConversationMessage = { id: this.live.messageId, role: 'assistant', parts, invocations };
    this.conversation.push(message);
    this.deps.limits.count(usage, model);
    this.deps.context.answered(message.id, usage);
    const started = invocations.map(({ toolCallId, name, input }) => ({ toolCallId, name, input }));
    const event = { messageId: message.id, parts, calls: started, usage, surroundings: this.surroundings, model };
    const steered = yield* this.emit({ type: 'step', ...event });
    this.surroundings = null;
    if (invocations.length > 0) return yield* this.carryOut(message, false);
    return steered && failure === null ? null : await this.deps.output.end(this.conversation, failure);
  }

  /**
   * Finishes the open calls of a message in their order. Questions wait until the others are done; the first one ends the
   * run. A call that needs an approval ends it at once, because those after it may build on what it does. Calls that change nothing
   * run side by side, all others one after another, so after a crash only the first open one can have begun and changed something.
   */
  private async *carryOut(message: ConversationMessage, resumed: boolean): Steps<AgentOutcome | null> {
    const { id: messageId } = message;
    const open = message.invocations.filter((one) => one.result === null);
    const ahead = new ReadsAhead(open, (call) => this.read(message, call));
    let left = open.length;
    let mayHaveBegun = resumed;
    let question: AgentOutcome | null = null;
    let ending: Ending | null = null;
    try {
      for (const [turn, call] of open.entries()) {
        const { toolCallId } = call;
        const read: Promise<Finished | Asked> | Finished | null =
          ending === null ? ahead.resultOf(turn) : refused(ending.others);
        const found: Finished | Asked | Waiting = (await read) ?? (yield* this.oneByOne(message, call, mayHaveBegun));
        const done: Exclude<typeof found, { handed: unknown }> | null = 'handed' in found ? yield* handOver(messageId, call, found.handed, (event) => this.emit(event, call)) : found; // prettier-ignore
        // What stands behind it may build on what the tasks come to.
        if (done === null) return { type: 'tasks', messageId, toolCallId };
        if ('approval' in done) return { type: 'approval', messageId, toolCallId, ...done.approval };
        if ('question' in done) {
          question ??= { type: 'question', messageId, toolCallId, question: done.question };
          continue;
        }
        // It goes on with this call, which has not begun.
        if (done.ending !== null && waitsAfter(this.input, done.ending.outcome)) return done.ending.outcome;
        mayHaveBegun = false;
        ending ??= done.ending;
        call.result = done.result;
        left--;
        yield* this.emitResult(message, call, done, left === 0);
      }
    } finally {
      for (const one of ahead.left()) void one.then(closeFiles, () => undefined);
    }
    if (ending !== null) return ending.outcome;
    const over = circling(this.conversation)?.over ?? null;
    return over === null ? question : noProgress(over);
  }

  private async *emitResult(message: ConversationMessage, call: ToolInvocation, done: Finished, last: boolean) {
    try {
      if (last) await markFolders(this.conversation, this.deps.sandbox);
      const { result: own, ...state } = this.deps.sandbox.takeState(done);
      const result = withHint(own, last ? this.conversation : [], this.deps.resultCharacters);
      call.result = result;
      const about = { messageId: message.id, toolCallId: call.toolCallId, last };
      yield* this.emit({ type: 'tool', ...about, result, files: done.files, ...state }, call);
      if (call.result !== result) forget(message);
    } finally {
      closeFiles(done);
    }
  }

  /** Begins a call that changes nothing; null for another one, and for one that cannot be carried out. */
  private read(message: ConversationMessage, call: ToolInvocation): Promise<Finished | Asked> | null {
    const checked = isTruncatedCall(message, call.toolCallId) ? null : this.deps.tools.check(call, this.deps.denied);
    if (checked === null || 'error' in checked || !runsBesideOthers(checked.tool)) return null;
    return this.outcomeOf({ messageId: message.id, toolCallId: call.toolCallId }, checked);
  }

  private async *oneByOne(message: ConversationMessage, call: ToolInvocation, mayHaveBegun: boolean) {
    if (isTruncatedCall(message, call.toolCallId)) return refused(TRUNCATED_CALL);
    const ready = this.prepare(call, mayHaveBegun);
    return 'tool' in ready ? yield* this.execute(message.id, call, ready) : ready;
  }

  /** What can be said of a call without starting it: the error for the model, the question for a person, or go. */
  private prepare(call: ToolInvocation, mayHaveBegun: boolean): Finished | Waiting | ReadyCall {
    const checked = this.deps.tools.check(call, this.deps.denied);
    const begun = begunBefore(this.input, call, checked, mayHaveBegun);
    if (begun !== null) return refused(begun);
    if ('error' in checked) return refused(checked.error);
    const { tool } = checked;
    if (tool.changes && !tool.elsewhere && this.storageExhausted !== null)
      return storageExhausted(this.storageExhausted);
    const approval = approvalOf(this.input, call, checked, this.deps);
    if (approval === null) return checked;
    const denied = deniedBefore(this.conversation, call);
    return denied === null ? { approval } : refused(denied);
  }

  private async *execute(messageId: string, call: ToolInvocation, ready: ReadyCall): Steps<Finished | Asked> {
    const { toolCallId } = call;
    if (recordsBeginning(this.input, ready)) yield* this.emit({ type: 'begin', messageId, toolCallId });
    return await this.outcomeOf({ messageId, toolCallId }, ready);
  }

  private async outcomeOf(call: CallRef, ready: ReadyCall): Promise<Finished | Asked> {
    const { input, deps, conversation, beside } = this;
    try {
      const context = contextOf(input, deps, conversation, call, beside.keepWhole);
      const outcome = await deps.tools.execute(ready, context);
      if (outcome.status === 'question') return { question: outcome.question };
      if (outcome.status === 'tasks') return { handed: outcome.handed };
      const { files = [], parts = [], ...result } = await this.beside.notes.with(outcome);
      return { result, files, parts, ending: null };
    } catch (error) {
      const failed = failedBy(error);
      this.deps.report(error as Error);
      return failed;
    }
  }

  /** Yields an event, of a call if any, and applies what the recorder answers. True when there are new messages to read. */
  private *emit(event: AgentEvent, call?: ToolInvocation): Generator<AgentEvent, boolean, AgentFeedback> {
    const feedback = (yield event) as AgentFeedback | undefined;
    this.input.signal.throwIfAborted();
    const { steer, files, result, storageExhausted, usageExhausted } = feedback ?? { steer: [], files: [] };
    if (call !== undefined && result !== undefined) call.result = result;
    if (storageExhausted !== undefined) this.storageExhausted = storageExhausted;
    if (usageExhausted !== undefined) this.usageExhausted = usageExhausted;
    this.conversation.push(...steer);
    this.deps.sandbox.add(files);
    this.deps.files.add(files);
    return steer.length > 0;
  }
}
