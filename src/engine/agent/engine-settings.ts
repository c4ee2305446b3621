import { Injectable } from '@nestjs/common';
import type { Env } from '../../platform/config/env.js';

/** Milliseconds. A run that waits for longer says so in the task (`waitingFor`). */
export const WAIT_TOLD_MS = 2_000;

/** Bounds of the loop that no client sets. Times in milliseconds. A class of its own, so that a test can shorten them. */
@Injectable()
export class EngineSettings {
  /** A model that sends nothing for so long is given up. Reasoning models send signs of life, slow servers do not. */
  idleMs = 120_000;
  /** One answer of a model, from request to finish. */
  answerMs = 30 * 60_000;
  /** Characters of one answer; more is a model that does not stop. */
  answerLength = 4_000_000;
  /** Tries of one model call. With the waits below: 8 to 15 seconds until a provider that is down fails the turn. */
  attempts = 5;
  /** Wait before the second try; doubles with each, jittered between half and whole. */
  backoffMs = 1_000;
  /** A provider that asks for a longer wait than this (`Retry-After`) is not waited for: the slot is worth more. */
  longestWaitMs = 60_000;
  /** Model calls of one turn, whatever its budget says. */
  stepsPerTurn = 1_000;
  /** How often in a row the model is asked to go on with an answer that was truncated at its output limit. */
  continuations = 3;
  /** Tool calls of one step. */
  callsPerStep = 64;
  /** Bytes of JSON of one tool result. */
  resultBytes = 256 * 1024;
  /** An agent program that neither calls nor says anything for so long, while none of its calls is open, has failed. */
  engineSilentMs = 10 * 60_000;
  /** Whether a worker tries the engines of the configuration when it boots. */
  triesEngines = true;
  /** {@link WAIT_TOLD_MS}, for the waits of a run that a worker has. */
  waitToldMs = WAIT_TOLD_MS;
}

/** Those of a running application. */
export function settingsOf({ variables }: Env): EngineSettings {
  return Object.assign(new EngineSettings(), { stepsPerTurn: variables.STEPS_PER_TURN });
}
