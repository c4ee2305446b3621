import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import { TRACELESS } from '../../engine/agent/tools/traceless.js';

export function mayChange(calls: readonly { name: string }[]): boolean {
  return calls.some(({ name }) => !TRACELESS.includes(name));
}

/** When a run whose folder may be lost with its machine takes a snapshot before its end (reference §22). */
export class MidwaySnapshots {
  private last = performance.now();
  /** Of calls that an earlier run left open nothing is known. */
  private changed = true;

  /**
   * @param take resolves with whether one was taken.
   * @param several whether another machine takes runs too. With one machine nothing is taken.
   * @param everyMs the least time between two of them, and between the beginning of the run and the first.
   */
  constructor(
    private readonly take: () => Promise<boolean>,
    private readonly several: () => boolean,
    private readonly everyMs: number,
  ) {}

  /** For each event that is recorded: behind the last call of a step the folder holds what is on record, and what commands that go on have written by then. */
  async recorded(event: AgentEvent): Promise<void> {
    if (event.type === 'step') this.changed ||= mayChange(event.calls);
    if (event.type !== 'tool' || !event.last || !this.changed || !this.several()) return;
    if (performance.now() - this.last < this.everyMs) return;
    this.changed = !(await this.take());
    this.last = performance.now();
  }
}
