import type { AgentEvent, AgentFeedback, AgentOutcome } from './agent-engine.js';
import { beside } from './check-lanes.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;
const DONE: AgentOutcome = { type: 'completed', text: 'Done.' };
const FAILED: AgentOutcome = { type: 'failed', code: 'model_error', message: 'No.', retryable: true };
const cloned = (commit: string): AgentEvent => ({ type: 'cloned', commit });
const FEEDBACK: AgentFeedback = { steer: [], files: [] };

/** A promise that a test keeps. */
function gate() {
  let [open, fail] = [(): void => undefined, (_error: Error): void => undefined];
  const passed = new Promise<void>((resolve, reject) => ([open, fail] = [resolve, reject]));
  passed.catch(() => undefined);
  return { passed, open, fail };
}

/** Yields its events, each when its gate is open, and ends so. */
async function* steps<T>(events: [AgentEvent, Promise<void>][], end: T, last?: Promise<void>): Steps<T> {
  for (const [event, passed] of events) {
    await passed;
    yield event;
  }
  await last;
  return end;
}

describe('Steps with others beside them', () => {
  it('have the events of both as they happen, and end when both have ended', async () => {
    const [first, second] = [gate(), gate()];
    const all = beside(
      steps([[cloned('a'), first.passed]], DONE),
      () => steps([[cloned('b'), second.passed]], null),
      () => undefined,
    );
    const next = all.next();
    second.open();
    expect(await next).toEqual({ done: false, value: cloned('b') });
    const further = all.next(FEEDBACK);
    first.open();
    expect(await further).toEqual({ done: false, value: cloned('a') });
    expect(await all.next(FEEDBACK)).toEqual({ done: true, value: DONE });
  });

  it('give the others up when they end otherwise than completed', async () => {
    let given: AbortSignal | null = null;
    const others = (enough: AbortSignal) => {
      given = enough;
      return steps(
        [],
        null,
        new Promise((_, reject) => enough.addEventListener('abort', () => reject(new Error('over')))),
      );
    };
    const all = beside(steps([], FAILED), others, () => undefined);
    expect(await all.next()).toEqual({ done: true, value: FAILED });
    expect(given).toMatchObject({ aborted: true });
  });

  it('go on when the others fail, and fail then when they are completed', async () => {
    const [first, second] = [gate(), gate()];
    let stopped = false;
    const all = beside(
      steps([[cloned('a'), first.passed]], DONE),
      () => steps([], null, second.passed),
      () => (stopped = true),
    );
    const next = all.next();
    second.fail(new Error('The worker stops.'));
    await second.passed.catch(() => undefined);
    first.open();
    expect(await next).toEqual({ done: false, value: cloned('a') });
    expect(stopped).toBe(false);
    await expect(all.next(FEEDBACK)).rejects.toThrow('The worker stops.');
  });

  it('are stopped when the turn is left while they are at work', async () => {
    const working = gate();
    const all = beside(
      steps([], DONE, working.passed),
      () => steps([[cloned('b'), Promise.resolve()]], null),
      () => working.open(),
    );
    expect(await all.next()).toEqual({ done: false, value: cloned('b') });
    expect(await all.return(FAILED)).toEqual({ done: true, value: FAILED });
  });
});
