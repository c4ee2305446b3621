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
