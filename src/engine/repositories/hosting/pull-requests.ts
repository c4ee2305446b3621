// Pull requests of hosts of repositories, by the clients that are kept for them.
import type { Hosting } from '../../../platform/config/repositories.js';
import { PushError } from '../push-record.js';
import { hostFailure } from '../repository-error.js';
import type { HostApi, OpenPullRequest, PullRequest } from './host-client.js';

/** Few installations need either: a client is loaded with the first pull request. */
const CLIENTS: Record<Hosting['kind'], () => Promise<OpenPullRequest>> = {
  github: async () => (await import('./github.js')).openOnGitHub,
  gitlab: async () => (await import('./gitlab.js')).openOnGitLab,
};

/** As {@link OpenPullRequest}. Rejects with {@link PushError}. */
export async function openPullRequest(kind: Hosting['kind'], host: HostApi, wanted: PullRequest): Promise<string> {
  const open = await CLIENTS[kind]();
  try {
    return checked(await open(host, wanted));
  } catch (error) {
    throw failed(error, new URL(host.api));
  }
}

function checked(address: string): string {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol) || address.length > 2048) {
    throw new Error('The API has answered no address of a pull request.');
  }
  return address;
}

/** A refusal has the words of the host: about the pull request, or about what the token may do. */
function failed(error: unknown, api: URL): PushError {
  const status = statusOf(error);
  if (status === null || status < 400 || status >= 500 || status === 429) {
    const message = `The pull request could not be opened: ${whyNot(error, status, api)} The next turn tries again.`;
    return new PushError('pull_request_failed', message, { cause: error });
  }
  const said = error instanceof Error ? error.message : '';
  const message = `The host refused the pull request (${status}): ${said.slice(0, 300).toWellFormed()}`;
  return new PushError('pull_request_refused', message, { cause: error });
}

function whyNot(error: unknown, status: number | null, api: URL): string {
  if (status === 429) return `${api.host} takes no more requests for a while (429).`;
  const failure = hostFailure(error, api);
  if (failure !== null) return failure.replace(/ Send a message to try again\.$/, '');
  return status === null || status === 500
    ? `${api.host} did not answer as its API does.`
    : `${api.host} answers with the status ${status}.`;
}

/** Of the clients' errors: Octokit's have `status`, Gitbeaker's the answer as their cause. */
function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  // Octokit gives 500 to a request that was not answered.
  if ('status' in error && typeof error.status === 'number') return error.status;
  const cause = 'cause' in error ? (error.cause as { response?: { status?: unknown } } | undefined) : undefined;
  return typeof cause?.response?.status === 'number' ? cause.response.status : null;
}
