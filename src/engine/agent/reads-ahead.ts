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
 * Begins calls before their turn to be recorded comes: those that change nothing and stand together. A call that may change something
 * begins when all before it are on record, and none behind it begins before it is.
 */
export class ReadsAhead<Result> {
  private readonly begun = new Map<ToolInvocation, Promise<Result>>();

  constructor(
    /** The open calls of a step, in its order. */
    private readonly calls: readonly ToolInvocation[],
    /** Begins a call that changes nothing; null for every other one. */
    private readonly begin: (call: ToolInvocation) => Promise<Result> | null,
  ) {}

  /** The result of the call whose turn has come; null when it does not run beside others. */
  take(turn: number): Promise<Result> | null {
    for (const call of this.calls.slice(turn, turn + SIDE_BY_SIDE)) {
      if (this.begun.has(call)) continue;
      const running = this.begin(call);
      if (running === null) break;
      // When the run ends before the turn of this call, nobody waits for it.
      running.catch(() => undefined);
      this.begun.set(call, running);
    }
    const [call] = this.calls.slice(turn, turn + 1);
    const taken = call === undefined ? undefined : this.begun.get(call);
    if (call !== undefined) this.begun.delete(call);
    return taken ?? null;
  }

  /** Those that have begun and whose turn has not come. */
  left(): Promise<Result>[] {
    return [...this.begun.values()];
  }
}
