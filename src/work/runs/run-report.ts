import { Logger } from '@nestjs/common';
import type { AgentEvent, AgentOutcome } from '../../engine/agent/agent-engine.js';
import type { Span, Tracing } from '../../platform/tracing/tracing.js';
import { type ClaimedRun, idsOf } from './claimed-run.js';

type Step = Extract<AgentEvent, { type: 'step' }>;
type Tool = Extract<AgentEvent, { type: 'tool' }>;

/** The name that a model gives to a tool that is none may be anything. */
const TOOL_NAME = /^[A-Za-z][\w-]{0,63}$/;

const logger = new Logger('Runs');

/**
 * What is told of one run while it is driven: a line of the log at its end, others below `info`, and spans for a collector. It goes
 * by the events of the engine, so every engine is told of alike. Nothing that a person, a model or a tool wrote is in it.
 */
export class RunReport {
  private readonly span: Span | undefined;
  private step: Span | undefined;
  private steps = 0;
  private readonly tools = new Map<string, string>();
  private readonly began = Date.now();
  /** Since when the engine works on what comes next: milliseconds since 1970. */
  private since = this.began;

  constructor(
    private readonly tracing: Tracing,
    private readonly run: ClaimedRun,
    private readonly model: string,
  ) {
    const { workspaceId, taskId, runId, epoch, traceparent } = run;
    const ids = { 'millwright.workspace.id': workspaceId, 'millwright.task.id': taskId, 'millwright.run.id': runId };
    const attributes = { ...ids, 'millwright.run.epoch': epoch, 'millwright.model': model };
    this.span = tracing.begin('run', { parent: traceparent, attributes });
    logger.debug({ ...idsOf(this.run), epoch, model, msg: 'Run begun.' });
  }

  /** Of an event that the engine has yielded, before it is on record. */
  happened(event: AgentEvent): void {
    if (event.type === 'step') this.stepped(event);
    else if (event.type === 'tool') this.finished(event);
  }

  /** The event is on record, and the engine goes on. A check may come to its end while a step is under way. */
  recorded({ type }: AgentEvent): void {
    if (type !== 'check' && type !== 'checked') this.since = Date.now();
  }

  ended({ type, ...outcome }: AgentOutcome): void {
    const code = 'code' in outcome ? outcome.code : undefined;
    this.step?.end();
    this.span?.end({ 'millwright.outcome': type, 'millwright.steps': this.steps }, code);
    const ms = Date.now() - this.began;
    logger.log({ ...idsOf(this.run), outcome: type, code, steps: this.steps, ms, msg: 'Run ended.' });
  }

  /** It was stopped, lost or broken: the executor says the rest. */
  left(error: unknown): void {
    const reason = error instanceof Error ? error.name : 'unknown';
    this.step?.end({}, reason);
    this.span?.end({ 'millwright.outcome': 'left', 'millwright.steps': this.steps }, reason);
    logger.debug({ ...idsOf(this.run), reason, steps: this.steps, msg: 'Run left.' });
  }

  /** A step lasts from the call of the model to the end of its last tool. */
  private stepped({ messageId, calls, usage }: Step): void {
    this.step?.end();
    this.steps++;
    for (const { toolCallId, name } of calls) this.tools.set(toolCallId, TOOL_NAME.test(name) ? name : 'other');
    const { inputTokens, outputTokens } = usage;
    const tokens = { 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens };
    const attributes = { 'millwright.message.id': messageId, 'millwright.tool_calls': calls.length, ...tokens };
    this.step = this.tracing.begin('step', { parent: this.span?.traceparent, began: this.since, attributes });
    const ms = Date.now() - this.since;
    const { model } = this;
    logger.debug({
      ...idsOf(this.run),
      messageId,
      model,
      inputTokens,
      outputTokens,
      calls: calls.length,
      ms,
      msg: 'Step.',
    });
  }

  private finished({ messageId, toolCallId, result, last }: Tool): void {
    // A call that another run of the turn has recorded is known by its id alone.
    const tool = this.tools.get(toolCallId) ?? 'unknown';
    const { status } = result;
    const parent = (this.step ?? this.span)?.traceparent;
    const attributes = { 'gen_ai.tool.name': tool, 'millwright.message.id': messageId };
    this.tracing
      .begin(`tool ${tool}`, { parent, began: this.since, attributes })
      ?.end({ 'millwright.tool.status': status });
    if (last) {
      this.step?.end();
      this.step = undefined;
    }
    logger.debug({ ...idsOf(this.run), messageId, tool, status, ms: Date.now() - this.since, msg: 'Tool.' });
  }
}
