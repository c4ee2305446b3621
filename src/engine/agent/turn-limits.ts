import { microsOf } from '../../platform/money/usd.js';
import type { ModelUsage } from '../models/model-provider.js';
import { costOf, type Prices } from '../models/prices.js';
import type { AgentInput, AgentOutcome } from './agent-engine.js';
import type { Amounts, Limits } from './delegation.js';

/** What a turn may use, counted over all its runs (reference §4, `budget`). */
export class TurnLimits {
  private steps: number;
  private tokens: number;
  private costMicros: number;
  /** What tasks that the turn has made hold of it. */
  private readonly reserved: Amounts;
  private readonly begun = performance.now();

  constructor(
    private readonly input: Pick<AgentInput, 'budget' | 'model' | 'spent' | 'delegation'>,
    private readonly stepsPerTurn: number,
    private readonly pricesOf: (model: string) => Prices | null,
  ) {
    this.steps = input.spent.steps;
    this.tokens = input.spent.tokens;
    this.costMicros = input.spent.costMicros;
    this.reserved = input.delegation?.reserved ?? { steps: 0, tokens: 0, costMicros: 0 };
  }

  /** @param model the one that answered, by default that of the turn. */
  count(usage: ModelUsage, model = this.input.model.id): void {
    this.steps++;
    this.spend(usage, model);
  }

  /** Of a call that is no step. */
  spend(usage: ModelUsage, model = this.input.model.id): void {
    this.tokens += usage.inputTokens + usage.outputTokens;
    this.costMicros += costOf(usage, this.pricesOf(model)) ?? 0;
  }

  /** What may still be handed to tasks, and how long the turn may go on. */
  left(): Limits & { seconds: number | null } {
    const { maxSteps = null, maxTokens = null, maxCost = null } = this.input.budget;
    const { steps, tokens, costMicros } = this.reserved;
    return {
      steps: maxSteps === null ? null : maxSteps - this.steps - steps,
      tokens: maxTokens === null ? null : maxTokens - this.tokens - tokens,
      costMicros: maxCost === null ? null : microsOf(maxCost) - this.costMicros - costMicros,
      seconds: this.secondsLeft(),
    };
  }

  /** Until the turn has run as long as it may; null without such a limit. */
  secondsLeft(): number | null {
    const { maxDurationSeconds } = this.input.budget;
    return maxDurationSeconds == null ? null : Math.max(0, maxDurationSeconds - this.seconds);
  }

  private get seconds(): number {
    return (this.input.spent.durationMs + performance.now() - this.begun) / 1000;
  }

  /** Why no further model call is allowed; null when one is. */
  exceeded(): Extract<AgentOutcome, { type: 'failed' }> | null {
    const { maxSteps, maxTokens, maxDurationSeconds, maxCost } = this.input.budget;
    const { steps, tokens, costMicros } = this.reserved;
    if (reached(this.steps + steps, maxSteps)) return overBudget(`${maxSteps} steps`);
    if (reached(this.tokens + tokens, maxTokens)) return overBudget(`${maxTokens} tokens`);
    if (reached(this.seconds, maxDurationSeconds)) return overBudget(`${maxDurationSeconds} seconds`);
    if (maxCost != null && reached(this.costMicros + costMicros, microsOf(maxCost)))
      return overBudget(`${maxCost} USD`);
    if (this.steps < this.stepsPerTurn) return null;
    const message = `The turn came to its limit of ${this.stepsPerTurn} steps without an end.`;
    return { type: 'failed', code: 'step_limit', message, retryable: true };
  }
}

/** A limit that is not given may come as null from a stored budget; null would count as 0. */
function reached(used: number, limit: number | null | undefined): boolean {
  return typeof limit === 'number' && used >= limit;
}

function overBudget(what: string): Extract<AgentOutcome, { type: 'failed' }> {
  const message = `The budget of ${what} is used up.`;
  return { type: 'failed', code: 'budget_exceeded', message, retryable: false };
}
