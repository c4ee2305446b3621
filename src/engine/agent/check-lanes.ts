// How the checks of a task are carried out: side by side (reference §26).
import { newId } from '../../platform/database/ids.js';
import type { CarriedOut, Check, CheckPhase, CheckRef, CheckResult } from '../checks/check.js';
import { CHECK_LANES, type CheckLane } from '../sandbox/workdir/workdirs.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome } from './agent-engine.js';
import type { CheckedWork, InputChecks } from './input-checks.js';
import type { TurnLimits } from './turn-limits.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;
export type CheckingInput = Pick<AgentInput, 'signal' | 'stopping' | 'passOn'>;

/**
 * Carries out those that nobody has carried out on the original yet, or takes what another task has found there. They take half of the time that the
 * turn has left at most: one that hangs on the original must not keep the same check from the work.
 */
export function checkOriginal(
  checks: InputChecks,
  input: CheckingInput,
  limits: TurnLimits,
  enough: AbortSignal,
): Steps<unknown> {
  const until = { ...input, signal: AbortSignal.any([input.signal, enough]) };
  const left = limits.secondsLeft();
  const half = left === null ? null : left / 2;
  const secondsLeft = () => (half === null ? null : Math.max(0, (limits.secondsLeft() ?? 0) - half));
  return inLanes(checks.unknown, until, { phase: 'before', round: 0 }, secondsLeft, async (check, work) => {
    const result = await checks.known(check);
    return result === null ? checks.run(check, { ...work, changes: null }) : { result, whole: null };
  });
}

/** In their order, as many at once as there are lanes. Resolves with the results of those that have begun before the time was over. */
export async function* inLanes(
  checks: readonly Check[],
  { signal, stopping, passOn }: CheckingInput,
  { phase, round }: Omit<CheckRef, 'name'>,
  secondsLeft: () => number | null,
  run: (check: Check, work: Omit<CheckedWork, 'changes'>) => Promise<CarriedOut>,
): Steps<CheckResult[]> {
  const waiting = [...checks];
  const results: CheckResult[] = [];
  const running = new Map<CheckLane, Promise<{ lane: CheckLane; done: CarriedOut }>>();
  const over = new AbortController();
  /** The lane whose check is to say what all of them begin with; when it could not, the next one is. */
  let digesting: CheckLane | 'done' | null = phase === 'before' ? 'done' : null;
  try {
    for (;;) {
      for (const lane of CHECK_LANES) {
        const check = running.has(lane) || secondsLeft() === 0 ? undefined : waiting.shift();
        if (check === undefined) continue;
        const ref = { name: check.name, phase, round };
        yield { type: 'check', ...ref, first: waiting.length === checks.length - 1 };
        digesting ??= lane;
        const work = {
          phase,
          lane,
          digest: digesting === lane,
          secondsLeft: secondsLeft(),
          passOn: (stream: 0 | 1, chunk: Buffer) =>
            passOn?.({ type: 'check_output', ...ref, stream: stream === 0 ? 'stdout' : 'stderr', chunk }),
          signal: AbortSignal.any([signal, stopping, over.signal]),
        };
        const begun = run(check, work).then((done) => ({ lane, done }));
        begun.catch(() => undefined);
        running.set(lane, begun);
      }
      if (running.size === 0) return inOrder(results, checks);
      const { lane, done } = await Promise.race(running.values());
      running.delete(lane);
      results.push(done.result);
      if (digesting === lane) digesting = done.result.workdirSha256 === null ? null : 'done';
      yield* told(done, phase, round);
    }
  } finally {
    over.abort();
    const left = await Promise.allSettled(running.values());
    for (const one of left) if (one.status === 'fulfilled') one.value.done.whole?.content.destroy();
  }
}

function* told({ result, whole }: CarriedOut, phase: CheckPhase, round: number): Generator<AgentEvent, void> {
  const name = `check-${result.name}${phase === 'before' ? '-before' : ''}.log`;
  const file = whole === null ? null : { id: newId(), name, size: whole.size, content: whole.content };
  try {
    yield { type: 'checked', phase, round, result, whole: file };
  } finally {
    whole?.content.destroy();
  }
}

function inOrder(results: CheckResult[], checks: readonly Check[]): CheckResult[] {
  return checks.flatMap(({ name }) => results.filter((result) => result.name === name));
}

type Ready =
  | { turn: IteratorResult<AgentEvent, AgentOutcome> }
  | { beside: IteratorResult<AgentEvent, unknown> }
  | { failure: unknown };

/**
 * The steps of a turn with others beside them, whose events come in between as they happen. A turn that is completed waits for those; one that ends
 * otherwise gives them up by their signal. When they fail the steps go on: a worker that stops still carries out the calls of its step.
 * @param stop stops the steps: they may be at work when the turn is left.
 */
export async function* beside(
  steps: Steps<AgentOutcome>,
  begin: (enough: AbortSignal) => Steps<unknown>,
  stop: () => void,
): Steps<AgentOutcome> {
  const enough = new AbortController();
  const others = begin(enough.signal);
  const ready = (next: ReturnType<typeof others.next>): Promise<Ready> =>
    next.then(
      (beside) => ({ beside }),
      (failure: unknown) => ({ failure }),
    );
  let step = quiet(steps.next());
  let other: Promise<Ready> | null = ready(others.next());
  let outcome: AgentOutcome | null = null;
  let failed: { failure: unknown } | null = null;
  try {
    while (outcome === null || other !== null) {
      const next: Ready = await Promise.race([
        ...(outcome === null ? [step.then((turn) => ({ turn }))] : []),
        ...(other === null ? [] : [other]),
      ]);
      if ('failure' in next) {
        failed = next;
        other = null;
      } else if ('beside' in next) {
        // What is answered to it, the answer to the next step says too.
        other = next.beside.done === true ? null : ready(others.next(yield next.beside.value));
      } else if (next.turn.done !== true) {
        step = quiet(steps.next(yield next.turn.value));
      } else {
        outcome = next.turn.value;
        if (outcome.type !== 'completed') return outcome;
      }
    }
    if (failed !== null) throw failed.failure;
    return outcome;
  } finally {
    enough.abort();
    if (outcome === null) stop();
    await Promise.allSettled([steps.return({ type: 'completed', text: '' }), others.return(null)]);
  }
}

/** Who waits for it learns how it ends; until somebody does, a failure is nobody's. */
function quiet<T extends Promise<unknown>>(promise: T): T {
  promise.catch(() => undefined);
  return promise;
}
