import { MergeRequests, Projects } from '@gitbeaker/core';
import { createRequesterFn, GitbeakerRequestError } from '@gitbeaker/requester-utils';
import type { ApiFetch } from './api-fetch.js';
import type { OpenPullRequest } from './host-client.js';

/** By the REST API of GitLab (docs.gitlab.com, "Merge requests API"). */
export const openOnGitLab: OpenPullRequest = async ({ api, token, fetch }, wanted) => {
  const options = { host: api.replace(/\/api\/v4$/, ''), token, requesterFn: requester(fetch) };
  const [requests, projects] = [new MergeRequests(options), new Projects(options)];
  const { path, branch, base, title, body, draft } = wanted;
  const existing = async () => {
    const found = await requests.all({ projectId: path, sourceBranch: branch, state: 'opened', maxPages: 1 });
    return found.find((one) => one.source_branch === branch && one.source_project_id === one.target_project_id);
  };
  const open = await existing();
  if (open !== undefined) return open.web_url;
  const into = base ?? (await projects.show(path)).default_branch;
  try {
    // GitLab takes a draft by its title.
    const name = draft ? `Draft: ${title}` : title;
    return (await requests.create(path, branch, into, name, { description: body })).web_url;
  } catch (error) {
    // Somebody was faster: 409.
    const faster = await existing().catch(() => undefined);
    if (faster !== undefined) return faster.web_url;
    throw error;
  }
};

function requester(fetch: ApiFetch) {
  return createRequesterFn(
    (_service, request) => Promise.resolve(request),
    async (endpoint, { method, headers, body, prefixUrl, searchParams } = {}) => {
      const url = new URL(endpoint, `${String(prefixUrl).replace(/\/+$/, '')}/`);
      url.search = typeof searchParams === 'string' ? searchParams : '';
      const response = await fetch(url, {
        method: String(method),
        headers: headers as Record<string, string>,
        ...(typeof body === 'string' ? { body } : {}),
      });
      const text = await response.text();
      if (!response.ok) throw refusal(url, response, text);
      return { body: JSON.parse(text) as Record<string, unknown>, headers: {}, status: response.status };
    },
  );
}

function refusal(url: URL, response: Response, text: string): GitbeakerRequestError {
  const description = wordsIn(text);
  return new GitbeakerRequestError(description, { cause: { description, request: new Request(url), response } });
}

/** `message` is a text, a list of texts, or lists by fields. */
function wordsIn(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown };
    const said = message ?? error ?? '';
    return typeof said === 'string' ? said : Array.isArray(said) ? said.join(' ') : JSON.stringify(said);
  } catch {
    return 'The answer is no JSON.';
  }
}
