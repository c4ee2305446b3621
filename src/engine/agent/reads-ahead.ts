// Calls of one step that change nothing run side by side (reference §15, docs/decisions/0054).
import type { ToolInvocation } from '../models/conversation.js';
import type { AgentTool } from './agent-tool.js';

/** Calls that run at once. */
const SIDE_BY_SIDE = 8;

/** Whether calls of the tool may run beside each other, and again after a crash. Those that a person is asked about may not. */
export function runsBesideOthers({ changesNothing, changes, repeatable }: AgentTool): boolean {
  return changesNothing && repeatable && !changes;
}

/**
 * Begins calls that change nothing before the calls ahead of them are recorded, when they stand in a row. A call that may change
 * something begins when all before it are recorded, and no call behind it begins before it is recorded.
 */
export class ReadsAhead<Result> {
  private readonly begun = new Map<ToolInvocation, Promise<Result>>();

  constructor(
    /** The open calls of a step, in its order. */
    private readonly calls: readonly ToolInvocation[],
    /** Begins a call that changes nothing; null for every other one. */
    private readonly begin: (call: ToolInvocation) => Promise<Result> | null,
  ) {}

  /** The result of the call that is recorded next; null when it does not run beside others. */
  resultOf(index: number): Promise<Result> | null {
    for (const call of this.calls.slice(index, index + SIDE_BY_SIDE)) {
      if (this.begun.has(call)) continue;
      const running = this.begin(call);
      if (running === null) break;
      // When the run ends before this call is recorded, nobody waits for its result.
      running.catch(() => undefined);
      this.begun.set(call, running);
    }
    const [call] = this.calls.slice(index, index + 1);
    const running = call === undefined ? undefined : this.begun.get(call);
    if (call !== undefined) this.begun.delete(call);
    return running ?? null;
  }

  /** Those that have begun and are not recorded yet. */
  left(): Promise<Result>[] {
    return [...this.begun.values()];
  }
}
