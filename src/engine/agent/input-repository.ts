// The repository of a task as an engine has it (reference §15).
import type { CheckedTurn } from '../checks/check.js';
import type { Protects } from '../checks/protection.js';
import type { PushRecord } from '../repositories/push-record.js';
import type { OpenedFile, SandboxSession } from '../sandbox/sandbox.js';
import type { InputSkill } from '../skills/task-skills.js';
import type { Waits } from './waits.js';

/** How many files differ, and how many lines in them. */
export interface ChangeCounts {
  files: number;
  additions: number;
  deletions: number;
  /** Whether there is no patch because it is too large. Absent as false: tasks of earlier versions. */
  patchOmitted?: boolean;
}

/** What a clean clone was laid out with. */
export interface LaidIn {
  /** Protected paths that the agent had changed. */
  changed: string[];
  /** Of the bytes of the patch, in hexadecimal; null without one. */
  patchSha256: string | null;
}

/** What a task has made of its repository. */
export interface RepositoryChanges {
  counted: ChangeCounts;
  /** Applies to the original commit (git-apply(1)). Null when nothing differs, and when it is too large to be a file. */
  patch: OpenedFile | null;
  /** The patch once more, from its beginning. */
  reopen(): Promise<OpenedFile>;
  /** Removes what was made for the comparison; call it when the patch is read. */
  close(): Promise<void>;
}

/**
 * The repository of a task (reference §15). An engine calls `clone` and `handIn` before the first model call, and `changes` when
 * the turn is over. All three reject with `RepositoryError` when it cannot be done, and with the reason of the run's signal.
 */
export interface InputRepository {
  /** The commit that is on record; null before the first clone. */
  readonly recorded: string | null;
  /** The commit that was cloned; null before `clone`. */
  readonly commit: string | null;
  /** Clones it on the host, unless that is done; resolves with the commit. Rejects with the reason of `stopping` too. */
  clone(stopping: AbortSignal, waits?: Waits): Promise<string>;
  /** The skills of the original commit, after `clone`. */
  skills(): Promise<InputSkill[]>;
  /** Lays it at `repo/` of the workdir, once in the life of the task. */
  handIn(open: () => Promise<SandboxSession>): Promise<void>;
  changes(session: SandboxSession): Promise<RepositoryChanges>;
  /**
   * Of a patch of another task at `folder`/changes.patch, if it `hasPatch`: takes away what `folder`/.base has of it, and leaves the rest in its place. Both
   * are of the same commit as this one. Resolves with the figures of the rest.
   */
  difference(session: SandboxSession, folder: string, hasPatch: boolean): Promise<ChangeCounts>;
  /**
   * Lays a clean clone of the original commit with the changes into the empty folders of a check: nothing else of the agent comes along. A path that is
   * protected is as in the commit. `null`: without changes.
   */
  layFresh(session: SandboxSession, changes: RepositoryChanges | null, isProtected: Protects): Promise<LaidIn>;
  /** The branch that the changes are pushed to; null when they are not. */
  readonly branch: string | null;
  /**
   * Pushes the changes and opens the pull request, as far as the task asks for it and it is not done: after `changes`, before they are
   * closed, and only when the turn is completed. `null`: they are not known. `checked`: what the pull request says of the checks. Its events are the engine's to yield. Rejects with
   * `PushError`, which an engine yields as `push_failed`, and with the reason of the run's signal.
   */
  push(changes: RepositoryChanges | null, checked: CheckedTurn): AsyncGenerator<PushEvent, void, unknown>;
}

/** What is to be recorded of the branch of a task: a commit before it is pushed, an address when there is one. */
export interface PushEvent {
  type: 'push';
  record: Partial<PushRecord>;
}
