import type { IncomingHttpHeaders } from 'node:http';
import type { AgentFeedback, AgentInput } from '../../agent/agent-engine.js';
import type { LiveAnswer } from '../../agent/live-answer.js';
import { uniqueIds } from '../../agent/model-answer.js';
import { aboveStorage, type Failure, usedUp } from '../../agent/turn-outcomes.js';
import type { ConversationMessage } from '../../models/conversation.js';
import type { ModelUsage } from '../../models/model-provider.js';
import { NO_USAGE, type WireRequest } from '../wires/wire.js';
import type { Reply } from './door.js';
import type { Asked } from './model-calls.js';
import type { TurnDeps } from './turn-deps.js';

/** The model of a turn, as its program may ask it. */
export class TurnModel {
  /** How many answers are awaited. */
  asking = 0;
  private readonly uniqueId: (id: string) => string;
  /** Ends calls when the worker stops: the worker that takes over calls the model again. */
  private readonly signal: AbortSignal;
  /** Of calls without tools, until the next step, by the model that answered. */
  private readonly beside = new Map<string, ModelUsage>();
  private storageExhausted: string | null;
  private usageExhausted: string | null;

  constructor(
    private readonly input: AgentInput,
    conversation: readonly ConversationMessage[],
    private readonly deps: Pick<TurnDeps, 'calls' | 'limits'>,
  ) {
    this.storageExhausted = input.storageExhausted ?? null;
    this.usageExhausted = input.usageExhausted ?? null;
    this.uniqueId = uniqueIds(conversation);
    this.signal = AbortSignal.any([input.signal, input.stopping]);
  }

  /** What the recorder answers. */
  heard({ storageExhausted, usageExhausted }: AgentFeedback): void {
    if (storageExhausted !== undefined) this.storageExhausted = storageExhausted;
    if (usageExhausted !== undefined) this.usageExhausted = usageExhausted;
  }

  /** Why it is not asked; null: it may be. */
  refusal(): Failure | null {
    const over = this.deps.limits.exceeded();
    if (over !== null) return over;
    if (this.usageExhausted !== null) return usedUp(this.usageExhausted);
    return this.storageExhausted === null ? null : aboveStorage(this.storageExhausted);
  }

  /** Rejects as {@link ModelCalls.ask} does. @param live null for what is no step: its tokens count at once, and are shown with the next step. */
  async ask(request: WireRequest, reply: Reply, headers: IncomingHttpHeaders, live: LiveAnswer | null): Promise<Asked> {
    const { model, waits } = this.input;
    const signal = AbortSignal.any([this.signal, reply.closed]);
    const about = { modelId: model.id, effort: model.effort, signal, headers, uniqueId: this.uniqueId, live, waits };
    this.asking++;
    try {
      const asked = await this.deps.calls.ask(request, about);
      const { usage, model: by } = asked.answer;
      if (live !== null) this.deps.limits.count(usage, by);
      else {
        this.deps.limits.spend(usage, by);
        this.beside.set(by, sum(usage, this.beside.get(by)));
      }
      return asked;
    } finally {
      this.asking--;
    }
  }

  /** What no step has shown yet. */
  rest(): { usage: ModelUsage; model: string }[] {
    const rest = [...this.beside].map(([model, usage]) => ({ usage, model }));
    this.beside.clear();
    return rest.filter(({ usage }) => usage.inputTokens + usage.outputTokens > 0);
  }

  /** What a step of this model is shown with. */
  withBeside(usage: ModelUsage, model: string): ModelUsage {
    const all = sum(usage, this.beside.get(model));
    this.beside.delete(model);
    return all;
  }
}

function sum(one: ModelUsage, other: ModelUsage = NO_USAGE): ModelUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}
