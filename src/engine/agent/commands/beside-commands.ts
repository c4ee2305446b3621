import type { AgentEvent, AgentFeedback, AgentOutcome } from '../agent-engine.js';
import type { RunCommands } from './run-commands.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;

/**
 * The steps of a turn, and in between what becomes of its commands, as it happens. When the steps end, whatever they come to, the commands are
 * stopped first, so that nothing changes any more; a worker that stops does the same.
 * @param signal aborted: nothing is recorded any more. @param stop stops the steps: they may be at work when the turn is left.
 */
export async function* besideCommands(
  steps: Steps<AgentOutcome>,
  commands: RunCommands,
  signal: AbortSignal,
  stop: () => void,
): Steps<AgentOutcome> {
  let over = false;
  let step = quiet(steps.next());
  try {
    for (;;) {
      // Of both the news first: a result that names a command stands behind its beginning.
      const next = await Promise.race([commands.changed(), step]);
      if (next === 'changed') {
        // What is answered to it, the answer to the next step says too.
        for (const event of commands.take()) yield event;
      } else if (next.done === true) {
        over = true;
        for (const event of await commands.end()) yield event;
        return next.value;
      } else step = quiet(steps.next(yield next.value));
    }
  } catch (error) {
    over = true;
    if (!signal.aborted) for (const event of await commands.end()) yield event;
    throw error;
  } finally {
    if (!over) stop();
    await Promise.allSettled([steps.return({ type: 'completed', text: '' })]);
  }
}

/** Who waits for it learns how it ends; until somebody does, a failure is nobody's. */
function quiet<T extends Promise<unknown>>(promise: T): T {
  promise.catch(() => undefined);
  return promise;
}
