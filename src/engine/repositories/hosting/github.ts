import { Octokit } from '@octokit/core';
import type { z } from 'zod';
import { github, PAGE } from './host-answers.js';
import type { HostApi, HostBranch, HostReads, HostRepository, OpenPullRequest } from './host-client.js';

const silent = () => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

/** By the REST API of GitHub and GitHub Enterprise Server (docs.github.com, "REST API endpoints for pull requests"). */
export const openOnGitHub: OpenPullRequest = async (host, wanted) => {
  const octokit = client(host);
  const { path, branch, base, title, body, draft } = wanted;
  const [owner = '', repo = ''] = path.split('/');
  const existing = async () => {
    const query = { owner, repo, head: `${owner}:${branch}`, state: 'open' as const, per_page: 100 };
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls', query);
    // A filter that GitHub cannot read it leaves out: then the list has those of other branches.
    return data.find(({ head }) => head.ref === branch && head.user?.login.toLowerCase() === owner.toLowerCase());
  };
  const open = await existing();
  if (open !== undefined) return open.html_url;
  const into = base ?? (await octokit.request('GET /repos/{owner}/{repo}', { owner, repo })).data.default_branch;
  try {
    const asked = { owner, repo, head: branch, base: into, title, body, draft };
    return (await octokit.request('POST /repos/{owner}/{repo}/pulls', asked)).data.html_url;
  } catch (error) {
    // Somebody was faster: 422 says this and much else.
    const faster = await existing().catch(() => undefined);
    if (faster !== undefined) return faster.html_url;
    throw error;
  }
};

/** A token of an installation begins so (docs.github.com, "GitHub's token formats"). */
const INSTALLATION = /^ghs_/;

/** As {@link HostReads}, on GitHub. */
export function readsOfGitHub(host: HostApi): HostReads {
  const octokit = client(host);
  const installed = INSTALLATION.test(host.token);
  const read = async <T>(route: string, query: object, shape: z.ZodType<T>) =>
    shape.parse((await octokit.request(route, { per_page: PAGE, ...query })).data);
  const shown = (row: z.output<typeof github.repository>): HostRepository => ({
    path: row.full_name,
    private: row.private,
    defaultBranch: row.default_branch ?? null,
    // Of repositories of an installation GitHub does not say it: the token itself was refused, or may.
    mayPush: !row.archived && (installed || row.permissions?.push === true),
    pushedAt: row.pushed_at ?? null,
  });
  const paged = (rows: z.output<typeof github.repositories>) => ({ rows: rows.map(shown), more: rows.length === PAGE });
  const tip = ({ name, commit: { sha } }: z.output<typeof github.branch>): HostBranch => ({ name, commit: sha });
  return {
    repositories: async (page) =>
      installed
        ? paged((await read('GET /installation/repositories', { page }, github.installed)).repositories)
        : paged(await read('GET /user/repos', { page, sort: 'pushed', direction: 'desc' }, github.repositories)),
    search: async (text, owners) => {
      // Quoted: a word with a colon would be a condition of its own.
      const q = [`"${text.replaceAll('"', ' ')}"`, 'in:name', 'fork:true', ...owners.map((owner) => `user:${owner}`)];
      return paged((await read('GET /search/repositories', { q: q.join(' ') }, github.found)).items);
    },
    repository: async (path) => shown(await read('GET /repos/{owner}/{repo}', namesOf(path), github.repository)),
    branches: async (path, page) => {
      const rows = await read('GET /repos/{owner}/{repo}/branches', { ...namesOf(path), page }, github.branches);
      return { rows: rows.map(tip), more: rows.length === PAGE };
    },
    searchBranches: async (path, text) => {
      const route = 'GET /repos/{owner}/{repo}/git/matching-refs/{+ref}';
      const ref = `heads/${text.split('/').map(encodeURIComponent).join('/')}`;
      const refs = await read(route, { ...namesOf(path), ref }, github.refs);
      const rows = refs
        .slice(0, PAGE)
        .map((one) => ({ name: one.ref.slice('refs/heads/'.length), commit: one.object.sha }));
      return { rows, more: refs.length > PAGE };
    },
    branch: async (path, branch) =>
      tip(await read('GET /repos/{owner}/{repo}/branches/{branch}', { ...namesOf(path), branch }, github.branch)),
    pullRequest: async (path, number) => {
      const route = 'GET /repos/{owner}/{repo}/pulls/{number}';
      const { state, draft, merged_at } = await read(route, { ...namesOf(path), number }, github.pull);
      if (state === 'closed') return merged_at == null ? 'closed' : 'merged';
      return draft ? 'draft' : 'open';
    },
  };
}

function client({ api, token, fetch }: HostApi): Octokit {
  return new Octokit({ auth: token, baseUrl: api, request: { fetch }, log: LOG });
}

function namesOf(path: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = path.split('/');
  return { owner, repo };
}
