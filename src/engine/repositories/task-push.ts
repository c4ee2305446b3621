import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { PushEvent, RepositoryChanges } from '../agent/input-repository.js';
import type { CheckedTurn } from '../checks/check.js';
import type { Base } from './clone.js';
import { apiFetch } from './hosting/api-fetch.js';
import { openPullRequest } from './hosting/pull-requests.js';
import { pullRequestText } from './pull-request-text.js';
import { PushError, type PushOfTask, type WantedPullRequest, withCommit } from './push-record.js';
import { type Pushed, RemoteBranch } from './remote-branch.js';
import { asRepositoryError } from './repository-error.js';
import type { RepositoryAccess } from './repository-access.js';
import { pathAt } from './repository-rules.js';
import type { RepositoryOfTask, RepositoryStore } from './repository-store.js';

const NOT_ALLOWED =
  'Neither the operator nor a repository connection of this workspace allows this branch any more. An owner or admin can allow it.';

/** Another worker that had the task may have pushed while this one looked. */
const TRIES = 3;

/**
 * Pushes what a task has made, and opens its pull request (docs/decisions/0053). Each commit is on record before it is pushed, so a
 * worker that takes the task over knows what it finds. Rejects with {@link PushError}, and with the reason of the signal.
 */
export class TaskPush {
  constructor(
    private readonly store: RepositoryStore,
    private readonly about: RepositoryOfTask,
    private readonly push: PushOfTask,
    private readonly base: Base,
    private readonly signal: AbortSignal,
  ) {}

  async *events(changes: RepositoryChanges | null, checked: CheckedTurn): AsyncGenerator<PushEvent, void, unknown> {
    const { push, store, about } = this;
    const access = await store.rules.access(null, new URL(about.url), about.workspace, push.branch);
    if (access === null) throw new PushError('not_allowed', NOT_ALLOWED);
    if (changes === null) throw new PushError('push_failed', 'What the turn has changed is not known.');
    if (changes.counted.files === 0 && push.commits.length === 0) return;
    const folder = await this.draft();
    try {
      const base = yield* this.branch(folder, access, await this.patch(folder, changes));
      if (base === undefined) return;
      const url = branchUrl(about.url, push.branch, access);
      if (url !== push.url) yield { type: 'push', record: { url } };
      if (push.pullRequest === null || push.pullRequestUrl !== null) return;
      const wanted = { ...push.pullRequest, base: push.pullRequest.base ?? base };
      yield { type: 'push', record: { pullRequestUrl: await this.pullRequest(wanted, access, checked) } };
    } finally {
      await store.discard(folder);
    }
  }

  /** What the branch began at; undefined when there is none and none is needed. */
  private async *branch(
    folder: string,
    access: RepositoryAccess,
    patch: string | null,
  ): AsyncGenerator<PushEvent, string | null | undefined> {
    const { about, push, base, store } = this;
    const files = store.files(about.taskId);
    const { workspace, ref, title, taskId } = about;
    const message = `${push.pullRequest?.title ?? title}\n\nMade by Millwright, task ${taskId}.\n`;
    const url = new URL(about.url);
    const pushed: Pushed = { url, path: pathAt(url), workspace, access, ref, push, base, files, patch, message };
    const branch = await RemoteBranch.open(folder, pushed, store.rules, store.gitLimits(this.signal));
    for (let tries = 1; ; tries++) {
      const found = await branch.find();
      const commit = await branch.commit(found);
      if (commit === null) return found.tip === null ? undefined : found.base;
      push.commits = withCommit(push.commits, commit, found.tip);
      yield { type: 'push', record: { commits: push.commits } };
      try {
        await branch.push(commit, found);
        return found.base;
      } catch (error) {
        if (!(error instanceof PushError) || error.code !== 'branch_moved' || tries === TRIES) throw error;
      }
    }
  }

  private async pullRequest(
    wanted: WantedPullRequest,
    access: RepositoryAccess,
    checked: CheckedTurn,
  ): Promise<string> {
    const { about, push, signal, store } = this;
    const { hosting } = access;
    if (hosting === null) throw new PushError('not_allowed', 'The host has no pull requests that can be opened.');
    const path = pathAt(new URL(about.url));
    const fetch = apiFetch(store.rules.egress, about.workspace, access.caFile, signal);
    return openPullRequest(
      hosting.kind,
      { api: hosting.api, token: await this.token(access, path), fetch },
      {
        path,
        branch: push.branch,
        base: wanted.base,
        title: wanted.title ?? about.title,
        body: pullRequestText(about.taskId, checked),
        draft: wanted.draft,
      },
    );
  }

  private async token(access: RepositoryAccess, path: string): Promise<string> {
    try {
      return await access.token(path, this.signal);
    } catch (error) {
      this.signal.throwIfAborted();
      throw new PushError('pull_request_failed', asRepositoryError(error, null).message, { cause: error });
    }
  }

  private async draft(): Promise<string> {
    try {
      return await this.store.draft(this.about.taskId);
    } catch (error) {
      throw new PushError('push_failed', asRepositoryError(error, null).message, { cause: error });
    }
  }

  /** A copy on the host: what is in the workdir may be gone before git(1) has read it. */
  private async patch(folder: string, changes: RepositoryChanges): Promise<string | null> {
    if (changes.counted.files === 0) return null;
    if (changes.patch === null) throw new PushError('push_failed', 'The patch is larger than a file may be.');
    const copy = join(folder, 'changes.patch');
    try {
      const { content } = await changes.reopen();
      await pipeline(content, createWriteStream(copy, { mode: 0o600 }), { signal: this.signal });
      return copy;
    } catch (cause) {
      this.signal.throwIfAborted();
      throw new PushError('push_failed', 'The patch could not be read.', { cause });
    }
  }
}

/** The branch as people see it: each host that is known has another address for it. */
function branchUrl(url: string, branch: string, { hosting }: RepositoryAccess): string {
  const repository = url.replace(/\/$/, '').replace(/\.git$/, '');
  if (hosting === null) return repository;
  const name = branch.split('/').map(encodeURIComponent).join('/');
  return `${repository}/${hosting.kind === 'github' ? 'tree' : '-/tree'}/${name}`;
}
