import { Injectable } from '@nestjs/common';
import { ApiError } from '../../platform/http/api-error.js';
import { type Answer, identity, inProgress, type KeyedRequest, replayOf } from './keyed-request.js';

const WAIT_MS = 2_000;

type Outcome = { answer: Answer } | { error: unknown };
interface Running {
  fingerprint: Buffer;
  outcome: Promise<Outcome>;
}

/**
 * Duplicates in one process wait for the first here, in memory: waiting in the database would hold a connection each, and
 * ten duplicates of one slow request would keep every other write out. So a key holds at most one connection of a
 * process, and what waits in the database (for another process) is bounded by that too.
 */
@Injectable()
export class InFlight {
  private readonly running = new Map<string, Running>();

  /**
   * Performs a request unless the same one is being performed: then resolves with its answer, as a replay. When the first
   * one fails, one of those that waited performs. Throws 409 for another body, or after two seconds of waiting.
   */
  async once(request: KeyedRequest, perform: () => Promise<Answer>): Promise<Answer> {
    const name = JSON.stringify(identity(request));
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const first = this.running.get(name);
      if (first === undefined) return this.lead(name, request, perform);
      const outcome = await settledBefore(deadline, first.outcome);
      if (outcome === null) throw inProgress();
      if ('answer' in outcome) return replayOf(outcome.answer, first.fingerprint, request);
      // Another process performs it: that is as true for this one.
      if (outcome.error instanceof ApiError && outcome.error.code === 'idempotency_in_progress') throw outcome.error;
    }
  }

  private async lead(name: string, { fingerprint }: KeyedRequest, perform: () => Promise<Answer>): Promise<Answer> {
    const work = perform();
    const outcome = work.then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    this.running.set(name, { fingerprint, outcome });
    try {
      return await work;
    } finally {
      this.running.delete(name);
    }
  }
}

/** Null when time runs out first. */
async function settledBefore(deadline: number, outcome: Promise<Outcome>): Promise<Outcome | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, deadline - performance.now()), null);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}
