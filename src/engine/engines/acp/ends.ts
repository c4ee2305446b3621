// How a turn of a program ends (reference §30).
import type { AgentOutcome } from '../../agent/agent-engine.js';
import { notOpened } from '../../agent/around-turn.js';
import { type Failure, modelFailed } from '../../agent/turn-outcomes.js';
import { ModelError } from '../../models/model-provider.js';
import { ProgramError } from './program.js';

/** The log says why: what the program wrote is for the operator. */
export function engineFailed(): Failure {
  const message = 'The engine of this task failed; the log of the service says why. Send a message to try again.';
  return { type: 'failed', code: 'engine_failed', message, retryable: true };
}

/** Throws what is no end of a turn: a sandbox that is busy, a defect. */
export function failureOf(error: unknown, report: (error: Error) => void): Failure {
  if (error instanceof ModelError) return modelFailed(error);
  if (!(error instanceof ProgramError)) return notOpened(error, report);
  report(error);
  return engineFailed();
}

const STOPPED: Readonly<Record<string, string>> = {
  refusal: 'The model refused to go on.',
  max_tokens: 'The answer was cut off at the output limit of the model.',
  max_turn_requests: 'The engine came to its limit of model calls in one turn.',
};

/** Null: the program has come to its end. Of an unknown reason, and of one that nobody has asked for, the program has failed. */
export function stoppedFor(reason: string): Failure | null {
  if (reason === 'end_turn') return null;
  const message = Object.hasOwn(STOPPED, reason) ? STOPPED[reason] : undefined;
  return message === undefined ? engineFailed() : { type: 'failed', code: reason, message, retryable: true };
}

export function outputInvalid(): AgentOutcome {
  const message = 'The last answer does not fit the outputSchema of the task, also after the engine was told why.';
  return { type: 'failed', code: 'output_invalid', message, retryable: false };
}
