import type { AgentEvent, AgentFeedback, AgentOutcome } from '../../agent/agent-engine.js';

interface Item {
  event: AgentEvent;
  resolve: (feedback: AgentFeedback) => void;
  reject: (error: Error) => void;
}

/** The run is over: who still waits for something of it need not. */
export class RunOverError extends Error {
  override readonly name = 'RunOverError';
}

const NOTHING: AgentFeedback = { steer: [], files: [] };

/**
 * The events of a run in the order in which they were given: requests of a program come side by side, and an engine yields
 * one event after another.
 */
export class EventPump {
  private readonly queue: Item[] = [];
  private end: { outcome: AgentOutcome } | { error: unknown } | null = null;
  private closed = false;
  private wake: () => void = () => undefined;

  /** Resolves when the event is on record. Rejects with {@link RunOverError} when it is not recorded any more. */
  emit(event: AgentEvent): Promise<AgentFeedback> {
    if (this.closed) return Promise.reject(new RunOverError('The run is over.'));
    return new Promise((resolve, reject) => {
      this.queue.push({ event, resolve, reject });
      this.wake();
    });
  }

  /** Ends the run when what was given before is on record. What comes first counts. */
  finish(outcome: AgentOutcome): void {
    this.end ??= { outcome };
    this.wake();
  }

  /** As {@link finish}: the run throws. */
  fail(error: unknown): void {
    this.end ??= { error };
    this.wake();
  }

  /** To be run once. */
  async *events(signal: AbortSignal): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    const stop = () => this.wake();
    signal.addEventListener('abort', stop);
    try {
      for (;;) {
        signal.throwIfAborted();
        const item = this.queue.shift();
        if (item !== undefined) yield* this.pass(item, signal);
        else if (this.end === null) await new Promise<void>((resolve) => (this.wake = resolve));
        else if ('error' in this.end) throw this.end.error;
        else return this.end.outcome;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.closed = true;
      for (const { reject } of this.queue.splice(0)) reject(new RunOverError('The run is over.'));
    }
  }

  private *pass(item: Item, signal: AbortSignal): Generator<AgentEvent, void, AgentFeedback> {
    let feedback: AgentFeedback | undefined;
    try {
      feedback = (yield item.event) ?? NOTHING;
      signal.throwIfAborted();
    } finally {
      if (feedback === undefined || signal.aborted) item.reject(new RunOverError('The run is over.'));
      else item.resolve(feedback);
    }
  }
}
