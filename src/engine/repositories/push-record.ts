import type { PullRequestState } from './hosting/host-client.js';

/** The pull request that a task asks for; null: made up by the service. */
export interface WantedPullRequest {
  title: string | null;
  /** The branch that it is to go into; null for the one that was cloned, else the default branch. */
  base: string | null;
  draft: boolean;
}

/** What is on record of the branch that a task pushes to. */
export interface PushRecord {
  /**
   * The last commits that were made for the branch, each recorded before it is pushed: a branch whose tip is one of them is the
   * task's own. Oldest first.
   */
  commits: string[];
  /** Where people look at the branch; null until it is pushed. */
  url: string | null;
  pullRequestUrl: string | null;
  /** As its host last said; absent as null: not known. */
  pullRequestState?: PullRequestState | null;
}

/** The branch that a task pushes to. */
export interface PushOfTask extends PushRecord {
  branch: string;
  pullRequest: WantedPullRequest | null;
}

/**
 * - `not_allowed`: the operator does not allow it any more.
 * - `branch_moved`: the branch has a commit that is not the task's.
 * - `push_refused`, `pull_request_refused`: the host does not allow it.
 * - `push_failed`, `pull_request_failed`: it could not be done, and a message tries again.
 */
export type PushFailure =
  'not_allowed' | 'branch_moved' | 'push_refused' | 'push_failed' | 'pull_request_refused' | 'pull_request_failed';

/** A branch was not pushed, or its pull request not opened. The message is for the client; `cause` has what the operator must know. */
export class PushError extends Error {
  override readonly name = 'PushError';

  constructor(
    readonly code: PushFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** How many commits of a task are known again at the tip of its branch. */
const KEPT = 10;

/** The commits with one more. The tip stays: those that were recorded and never pushed, because the host was away, must not push it out. */
export function withCommit(commits: readonly string[], commit: string, tip: string | null): string[] {
  const others = commits.filter((one) => one !== tip).slice(-(KEPT - 2));
  return [...(tip === null ? [] : [tip]), ...others, commit];
}
