import type { IncomingHttpHeaders } from 'node:http';
import type {
  AgentEvent,
  AgentFeedback,
  AgentInput,
  AgentOutcome,
  ToldSurroundings,
} from '../../agent/agent-engine.js';
import { LiveAnswer } from '../../agent/live-answer.js';
import { circling } from '../../agent/repetition.js';
import { addSurroundings } from '../../agent/surroundings.js';
import { parseArguments } from '../../agent/tool-registry.js';
import { noProgress, withFailure } from '../../agent/turn-outcomes.js';
import { waitsAfter } from '../../agent/when-blocked.js';
import type { ConversationMessage, StoredPart, ToolInvocation } from '../../models/conversation.js';
import { ContextOverflowError } from '../../models/model-provider.js';
import type { WireRequest } from '../wires/wire.js';
import { CallRecord } from './call-record.js';
import { handedOut } from './carried-out.js';
import { ProgramLeftError, type Reply } from './door.js';
import { failureOf } from './ends.js';
import { EventPump, RunOverError } from './event-pump.js';
import type { Ending } from './gate.js';
import { HeldStep } from './held-step.js';
import type { Asked } from './model-calls.js';
import { withoutWords } from './prompts.js';
import { takenUp } from './taken-up.js';
import { watchClock } from './turn-clock.js';
import type { TurnDeps } from './turn-deps.js';
import { TurnModel } from './turn-model.js';
import { Prompts } from './turn-prompts.js';

/** Milliseconds in which it turns out whether the run is still ours. */
const LEASES_MS = 250;

type Steps = AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback>;

/** One run of a program: its prompts, and what comes of them at the door, until there is an outcome. */
export class EngineTurn {
  private readonly pump = new EventPump();
  /** The calls that are open. */
  readonly record: CallRecord;
  private readonly model: TurnModel;
  private readonly prompts: Prompts;
  /** Steps on record that have not reached the program, as a whole or in part. */
  private held: HeldStep[] = [];
  /** How many are on their way to the record, and then to the program. */
  private passing = 0;
  /** One is given after another. */
  private giving: Promise<unknown> = Promise.resolve();
  private surroundings: ToldSurroundings | null = null;
  /** What stands in the next step beside what the model says. */
  private readonly also: StoredPart[] = [];
  private over = false;
  private steps = 0;

  constructor(
    private readonly input: AgentInput,
    private readonly conversation: ConversationMessage[],
    private readonly deps: TurnDeps,
  ) {
    this.model = new TurnModel(input, conversation, deps);
    const { sandbox, tools, kept } = deps;
    this.record = new CallRecord(conversation, {
      ...{ sandbox, tools, kept, passOn: input.passOn },
      emit: (event) => this.emit(event),
      recorded: (last) => this.resulted(last),
    });
    this.prompts = new Prompts(input, conversation, deps, {
      update: (update) => this.record.update(update),
      isBusy: () => this.model.asking > 0 || this.record.open > 0,
      settled: () => this.record.closeAll(),
      failed: (error) => this.broke(error),
    });
  }

  /** To be run once. @param told goes before all else. */
  async *run(told: ConversationMessage[]): Steps {
    const { input } = this;
    this.conversation.push(...told);
    input.stopping.throwIfAborted();
    const stop = () => this.stopWhenIdle();
    input.stopping.addEventListener('abort', stop);
    const unwatch = watchClock(this.deps.limits, (outcome) => void this.finish(outcome));
    this.work().catch((error: unknown) => this.broke(error));
    try {
      return yield* this.pump.events(input.signal);
    } finally {
      this.over = true;
      unwatch();
      input.stopping.removeEventListener('abort', stop);
      await this.prompts.close();
    }
  }

  /** Answers a request of the program, or of whatever in the sandbox asks. */
  async ask(request: WireRequest, reply: Reply, headers: IncomingHttpHeaders): Promise<void> {
    try {
      this.prompts.heard();
      await (request.tools.length === 0 ? this.aside(request, reply, headers) : this.step(request, reply, headers));
    } catch (error) {
      if (error instanceof ContextOverflowError) {
        const message = 'prompt is too long: it exceeds the context window of the model';
        return reply.refuse(400, 'context_length_exceeded', message);
      }
      this.broke(error);
    }
  }

  /** Ends the program, and then the run. What comes first counts. */
  async finish(outcome: AgentOutcome): Promise<void> {
    if (this.over) return;
    this.over = true;
    try {
      await this.prompts.close();
      const waits = ['question', 'approval', 'tasks'].includes(outcome.type) || waitsAfter(this.input, outcome);
      await this.record.closeTurn(waits ? [] : this.held);
      await this.tellRest();
      this.pump.finish(outcome);
    } catch (error) {
      this.pump.fail(error);
    }
  }

  private async work(): Promise<void> {
    const { record, handOut } = this;
    const { held, waits } = await takenUp(this.conversation, { record, gate: this.deps.gate, handOut });
    if (waits !== null) return this.finish(waits);
    this.held.push(...held);
    this.surroundings = await addSurroundings(this.conversation, this.deps.surroundings);
    const session = await this.prompts.begin(this.held.length > 0);
    if (session !== null) await this.emit({ type: 'engine_session', session });
    this.also.push(...this.prompts.restarted());
    await this.prompts.run();
    await this.finish(this.prompts.outcome(this.steps));
  }

  private readonly handOut = (message: ConversationMessage, call: ToolInvocation): Promise<AgentOutcome | null> =>
    handedOut(message, call, { ...this.deps.carrying, record: this.record, emit: (event) => this.emit(event) });

  /** A call without tools: a title, a summary of the program's own. */
  private async aside(request: WireRequest, reply: Reply, headers: IncomingHttpHeaders): Promise<void> {
    const refused = this.model.refusal();
    if (refused !== null) return this.finish(refused);
    const { wire } = await this.model.ask(request, reply, headers, null);
    // Said anew, as each step is: the bytes of the provider name its model.
    reply.send(this.deps.wire.say(request, wire));
  }

  private async step(request: WireRequest, reply: Reply, headers: IncomingHttpHeaders): Promise<void> {
    this.record.told(request.results);
    await this.record.settled();
    // Who asks after the end is not answered.
    if (this.over) return;
    this.input.stopping.throwIfAborted();
    const side = this.prompts.isSide(headers);
    const before = side ? null : await this.prompts.before(request, reply.closed);
    if (before === 'again') reply.send(this.deps.wire.say(request, { calls: [] }));
    if (before !== null) return;
    const told = new Set(request.results.map(({ toolCallId }) => toolCallId));
    const held = this.held.find((one) => one.isFor(told, side));
    if (held !== undefined && (await this.letThrough(held, request, reply))) return;
    const refused = this.model.refusal();
    if (refused !== null) return this.finish(refused);
    const live = new LiveAnswer(this.input.passOn);
    const asked = await this.model.ask(request, reply, headers, live);
    if (side) this.prompts.sides.add(live.messageId);
    await this.recordStep(asked, live, request, reply);
  }

  private async recordStep(asked: Asked, live: LiveAnswer, request: WireRequest, reply: Reply): Promise<void> {
    const { calls, usage, model, failure } = asked.answer;
    if (asked.answer.parts.length === 0 && failure !== null) return this.finish({ type: 'failed', ...failure });
    const said = failure === null ? asked.answer.parts : withFailure(asked.answer.parts, failure);
    // Behind what was passed on of them, which has its place by now.
    const parts = [...said, ...this.also.splice(0)];
    const invocations = calls.map(({ toolCallId, name, input }) => {
      return { toolCallId, name, input: parseArguments(input), result: null, stage: null };
    });
    const message: ConversationMessage = { id: live.messageId, role: 'assistant', parts, invocations };
    this.conversation.push(message);
    if (!this.prompts.sides.has(message.id)) this.steps++;
    const all = this.model.withBeside(usage, model);
    const { surroundings } = this;
    this.surroundings = null;
    const started = invocations.map(({ toolCallId, name, input }) => ({ toolCallId, name, input }));
    const held = HeldStep.of(message, asked);
    const goes = failure === null && !reply.closed.aborted && !this.input.stopping.aborted;
    if (goes) held.begins(this.holds);
    const about = { parts, calls: started, begun: held.begun, usage: all, surroundings, model };
    this.passing++;
    try {
      await this.emit({ type: 'step', messageId: message.id, ...about });
      await this.tellRest();
      if (failure !== null) return await this.finish({ type: 'failed', ...failure });
      this.held.push(held);
      await this.letThrough(held, request, reply);
    } finally {
      this.passing--;
      this.stopWhenIdle();
    }
  }

  private readonly holds = (call: ToolInvocation) => this.deps.gate.holds(this.conversation, call);

  /** Gives the program what it may have of a step. False: there is nothing to give. */
  private letThrough(step: HeldStep, request: WireRequest, reply: Reply): Promise<boolean> {
    const given = this.giving.then(() => this.held.includes(step) && !this.over && this.give(step, request, reply));
    this.giving = given.catch(() => undefined);
    return given;
  }

  private async give(step: HeldStep, request: WireRequest, reply: Reply): Promise<boolean> {
    const { message } = step;
    const next = step.next(this.holds);
    for (const { call, error } of next.refused) {
      await this.record.record(message, call, { result: { status: 'error', error } });
      this.prompts.note(withoutWords(call));
    }
    if (next.ends !== null) return this.endWith(next.ends, step, request, reply);
    if (next.give === null) {
      this.forget(step);
      return next.refused.length > 0 && this.prompts.interrupts();
    }
    // The next request is answered with it.
    if (reply.closed.aborted) return true;
    const [last] = next.give.calls.slice(-1);
    if (last !== undefined && step.begun === null)
      await this.emit({ type: 'begin', messageId: message.id, toolCallId: last.toolCallId });
    for (const call of next.give.calls) this.record.give(step.idOf(call), message, call);
    step.given(next.give.calls);
    if (step.isOver) this.forget(step);
    reply.send(this.deps.wire.say(request, next.give.said));
    return true;
  }

  private async endWith({ call, held }: Ending, step: HeldStep, request: WireRequest, reply: Reply): Promise<boolean> {
    const { message } = step;
    const hands = 'tasks' in held;
    const outcome = hands
      ? await this.handOut(message, call)
      : await this.deps.gate.outcome(message.id, { call, held });
    if (outcome !== null) await this.finish(outcome);
    if (outcome !== null || this.over) return true;
    // It has come to something at once: an error as a rule.
    step.without(call);
    this.prompts.note(withoutWords(call));
    return this.give(step, request, reply);
  }

  private forget(step: HeldStep): void {
    this.held = this.held.filter((one) => one !== step);
  }

  private resulted(last: boolean): void {
    this.prompts.heard();
    const over = last ? (circling(this.conversation)?.over ?? null) : null;
    if (over !== null) void this.finish(noProgress(over));
    this.stopWhenIdle();
  }

  private stopWhenIdle(): void {
    if (!this.input.stopping.aborted || this.record.open + this.passing > 0) return;
    void this.tellRest()
      .catch(() => undefined)
      .then(() => this.pump.fail(this.input.stopping.reason));
  }

  private async tellRest(): Promise<void> {
    for (const spent of this.model.rest()) await this.emit({ type: 'spent', ...spent });
  }

  /** A worker that stood still finds its sandboxes ended and its leases lost, in whatever order: then the program goes on in another run. */
  private broke(error: unknown): void {
    if (error instanceof RunOverError || error instanceof ProgramLeftError) return;
    setTimeout(() => this.fail(error), LEASES_MS);
  }

  private fail(error: unknown): void {
    const { signal, stopping } = this.input;
    if (this.over || signal.aborted) return;
    if (stopping.aborted) return this.pump.fail(stopping.reason);
    try {
      void this.finish(failureOf(error, this.deps.report));
    } catch (fatal) {
      this.pump.fail(fatal);
    }
  }

  private async emit(event: AgentEvent): Promise<AgentFeedback> {
    const feedback = await this.pump.emit(event);
    const { steer, files } = feedback;
    this.model.heard(feedback);
    this.conversation.push(...steer);
    this.prompts.steer(steer);
    this.deps.sandbox.add(files);
    this.deps.files.add(files);
    return feedback;
  }
}
