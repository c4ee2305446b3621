import { Octokit } from '@octokit/core';
import type { OpenPullRequest } from './host-client.js';

const silent = () => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

/** By the REST API of GitHub and GitHub Enterprise Server (docs.github.com, "REST API endpoints for pull requests"). */
export const openOnGitHub: OpenPullRequest = async ({ api, token, fetch }, wanted) => {
  const octokit = new Octokit({ auth: token, baseUrl: api, request: { fetch }, log: LOG });
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
