import { isPassing } from '../../platform/database/database-errors.js';
import { newId } from '../../platform/database/ids.js';
import type { CheckedTurn } from '../checks/check.js';
import { PushError } from '../repositories/push-record.js';
import { RepositoryError } from '../repositories/repository-error.js';
import { SandboxError, type SandboxSession } from '../sandbox/sandbox.js';
import type { AgentEvent, AgentFeedback, AgentInput, AgentOutcome } from './agent-engine.js';
import type { InputRepository, RepositoryChanges } from './input-repository.js';
import { PASSED, type Verdict } from './check-steps.js';
import { sandboxUnavailable } from './turn-outcomes.js';

type Steps<T> = AsyncGenerator<AgentEvent, T, AgentFeedback>;
interface Opens {
  get(): Promise<SandboxSession>;
}
/** `warn` for what the repository, or who named it, has caused. */
type Report = (error: Error, level?: 'warn') => void;

/** The patch of a task, among its files (reference §15). */
const PATCH = 'changes.patch';
/** The part about a branch that was not pushed. */
const FAILED = 'repository_push';
/** The part about a patch that was left out. */
const OMITTED = 'repository_patch';

/** Before the first model call: the repository of the task is cloned and handed in. Else the outcome that ends the run. */
export async function* bringIn(
  { repository, signal, stopping, waits }: AgentInput,
  sandbox: Opens,
  report: Report,
): Steps<AgentOutcome | null> {
  if (repository == null) return null;
  stopping.throwIfAborted();
  try {
    const commit = await repository.clone(stopping, waits);
    if (repository.recorded === null) yield { type: 'cloned', commit };
    await repository.handIn(() => sandbox.get());
    return null;
  } catch (error) {
    signal.throwIfAborted();
    stopping.throwIfAborted();
    if (error instanceof RepositoryError) {
      report(withCause(error), 'warn');
      return { type: 'failed', code: 'repository_unavailable', message: error.message, retryable: true };
    }
    if (!(error instanceof SandboxError) || isPassing(error.cause)) throw error;
    report(error);
    return sandboxUnavailable();
  }
}

/** Whether a turn that is completed may be so: after its changes are known, and before they are pushed. Null: of no repository. */
export type Verify = (changes: RepositoryChanges | null | 'unknown') => Steps<Verdict>;

/**
 * After the turn: what differs from the original commit, which a completed turn pushes when its checks have passed. That it cannot be computed or
 * pushed changes no outcome. A run that only waits for a person has not ended its turn.
 */
export async function* tellChanges(
  input: AgentInput,
  outcome: AgentOutcome,
  sandbox: Opens,
  verify: Verify,
  report: Report,
): Steps<Verdict> {
  const { repository } = input;
  const completed = outcome.type === 'completed';
  if (repository == null) return completed ? yield* verify(null) : PASSED;
  if (!completed && outcome.type !== 'failed') return PASSED;
  const found = yield* changesOf(input, repository, sandbox, report);
  try {
    if (!completed) return PASSED;
    const verdict = yield* verify(found ?? 'unknown');
    if ('passed' in verdict) yield* pushed(input, found, verdict, report);
    return verdict;
  } finally {
    // The next comparison removes what is left of this one.
    await found?.close().catch(() => undefined);
  }
}

/** What it reads of the changes may be gone by now: the branch is pushed as far as it can be without. */
async function* pushed(
  input: AgentInput,
  found: RepositoryChanges | null,
  checked: CheckedTurn,
  report: Report,
): Steps<void> {
  try {
    yield* push(input, found, checked, report);
  } catch (error) {
    input.signal.throwIfAborted();
    if (found === null || !(error instanceof RepositoryError || error instanceof SandboxError)) throw error;
    report(withCause(error));
    yield { type: 'changes', counted: null, patch: null };
    yield* push(input, null, checked, report);
  }
}

/** Null: they are not known. The caller closes them. */
async function* changesOf(
  { signal }: AgentInput,
  repository: InputRepository,
  sandbox: Opens,
  report: Report,
): Steps<RepositoryChanges | null> {
  let found: RepositoryChanges | null = null;
  try {
    found = await repository.changes(await sandbox.get());
    const { counted, patch } = found;
    try {
      const file = patch === null ? null : { id: newId(), name: PATCH, size: patch.size, content: patch.content };
      yield { type: 'changes', counted, patch: file };
      if (counted.patchOmitted === true) yield patchOmitted();
      return found;
    } finally {
      patch?.content.destroy();
    }
  } catch (error) {
    await found?.close().catch(() => undefined);
    signal.throwIfAborted();
    if (!(error instanceof RepositoryError || error instanceof SandboxError)) throw error;
    report(withCause(error));
    yield { type: 'changes', counted: null, patch: null };
    return null;
  }
}

/** The message that says so: the changes are in `repo/` of the workdir all the same. */
function patchOmitted(): AgentEvent {
  const message = `The changes are larger than a file may be, so there is no ${PATCH}.`;
  const part = { type: 'data' as const, name: OMITTED, id: newId(), data: { code: 'too_large', message } };
  return { type: 'patch_omitted', messageId: newId(), parts: [part] };
}

async function* push(
  { repository, signal, waits }: AgentInput,
  changes: RepositoryChanges | null,
  checked: CheckedTurn,
  report: Report,
): Steps<void> {
  if (repository?.branch == null) return;
  const over = waits?.({ code: 'push', message: `The branch '${repository.branch}' is pushed.` });
  try {
    yield* repository.push(changes, checked);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PushError)) throw error;
    report(withCause(error), 'warn');
    const { code, message } = error;
    const data = { branch: repository.branch, state: 'failed', code, message };
    yield { type: 'push_failed', messageId: newId(), parts: [{ type: 'data', name: FAILED, id: newId(), data }] };
  } finally {
    over?.();
  }
}

/** The client's message has what it may know; the log has the rest. */
function withCause({ message, cause }: Error): Error {
  return cause instanceof Error ? new Error(`${message} ${cause.message}`, { cause }) : new Error(message);
}
