// What the client of a host takes and gives: a client need not know who chooses between them.
import type { ApiFetch } from './api-fetch.js';

export interface HostApi {
  /** The address that the paths of the API begin with. */
  api: string;
  token: string;
  fetch: ApiFetch;
}

export interface PullRequest {
  /** Of the repository, without `.git`. */
  path: string;
  branch: string;
  /** The branch that it is to go into; null for the default branch. */
  base: string | null;
  title: string;
  body: string;
  draft: boolean;
}

/** Resolves with the address of the open pull request of a branch, for people; opens it when there is none. */
export type OpenPullRequest = (host: HostApi, wanted: PullRequest) => Promise<string>;

export interface HostRepository {
  /** `acme/api`, on GitLab with all groups. */
  path: string;
  /** Null where the host does not say. */
  private: boolean | null;
  /** Null for a repository without a commit. */
  defaultBranch: string | null;
  /** Whether the host lets this credential push. */
  mayPush: boolean;
  /** ISO 8601; null when nobody has pushed. GitLab gives the last activity. */
  pushedAt: string | null;
}

export interface HostBranch {
  name: string;
  commit: string;
}

export interface HostPage<T> {
  rows: T[];
  /** Whether there may be a next page. */
  more: boolean;
}

/** `draft` is open too. */
export const PULL_REQUEST_STATES = ['open', 'draft', 'merged', 'closed'] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

/** What is read of a host with one credential. All reject with {@link HostError}, and with the reason of the signal. Pages begin at 1. */
export interface HostReads {
  /** Of which the account is a member; those pushed last first, of an installation in no order. */
  repositories(page: number): Promise<HostPage<HostRepository>>;
  /** One page of those with a text in their names. `owners`: the first names of their paths; none: all. */
  search(text: string, owners: readonly string[]): Promise<HostPage<HostRepository>>;
  repository(path: string): Promise<HostRepository>;
  branches(path: string, page: number): Promise<HostPage<HostBranch>>;
  /** On GitHub those that begin with the text, on GitLab those that have it. */
  searchBranches(path: string, text: string): Promise<HostPage<HostBranch>>;
  branch(path: string, name: string): Promise<HostBranch>;
  pullRequest(path: string, number: number): Promise<PullRequestState>;
}
