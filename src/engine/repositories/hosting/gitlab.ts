import { Branches, MergeRequests, Projects } from '@gitbeaker/core';
import { createRequesterFn, GitbeakerRequestError } from '@gitbeaker/requester-utils';
import type { ApiFetch } from './api-fetch.js';
import type { z } from 'zod';
import { gitlab, PAGE } from './host-answers.js';
import type { HostApi, HostBranch, HostReads, HostRepository, OpenPullRequest } from './host-client.js';

/** By the REST API of GitLab (docs.gitlab.com, "Merge requests API"). */
export const openOnGitLab: OpenPullRequest = async (host, wanted) => {
  const options = optionsOf(host);
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

/** A developer may push (docs.gitlab.com, "Roles and permissions"). */
const DEVELOPER = 30;

/** As {@link HostReads}, on GitLab. */
export function readsOfGitLab(host: HostApi): HostReads {
  const options = optionsOf(host);
  const [projects, branches] = [new Projects(options), new Branches(options)];
  const requests = new MergeRequests(options);
  // One page alone: what it says of a next one is not asked.
  const pageOf = (page: number) => ({ perPage: PAGE, page, maxPages: 1 });
  const paged = (answer: unknown) => {
    const rows = gitlab.projects.parse(answer);
    return { rows: rows.map(shown), more: rows.length === PAGE };
  };
  const tips = (answer: unknown) => {
    const rows = gitlab.branches.parse(answer);
    return { rows: rows.map(tip), more: rows.length === PAGE };
  };
  const own = { membership: true, orderBy: 'last_activity_at', sort: 'desc' } as const;
  return {
    repositories: async (page) => paged(await projects.all({ ...own, ...pageOf(page) })),
    search: async (text) => paged(await projects.all({ ...own, search: text, searchNamespaces: true, ...pageOf(1) })),
    repository: async (path) => shown(gitlab.project.parse(await projects.show(path))),
    branches: async (path, page) => tips(await branches.all(path, pageOf(page))),
    searchBranches: async (path, text) => tips(await branches.all(path, { search: text, ...pageOf(1) })),
    branch: async (path, branch) => tip(gitlab.branch.parse(await branches.show(path, branch))),
    pullRequest: async (path, number) => {
      const { state, draft } = gitlab.request.parse(await requests.show(path, number));
      if (state === 'merged' || state === 'closed') return state;
      return draft ? 'draft' : 'open';
    },
  };
}

function shown(row: z.output<typeof gitlab.project>): HostRepository {
  const { project_access: own, group_access: group } = row.permissions ?? {};
  return {
    path: row.path_with_namespace,
    private: row.visibility !== 'public',
    defaultBranch: row.default_branch ?? null,
    mayPush: !row.archived && Math.max(own?.access_level ?? 0, group?.access_level ?? 0) >= DEVELOPER,
    pushedAt: row.last_activity_at ?? null,
  };
}

function tip({ name, commit: { id } }: z.output<typeof gitlab.branch>): HostBranch {
  return { name, commit: id };
}

function optionsOf({ api, token, fetch }: HostApi) {
  return { host: api.replace(/\/api\/v4$/, ''), token, requesterFn: requester(fetch) };
}

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
