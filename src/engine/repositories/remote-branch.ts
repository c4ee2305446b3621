import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Base, COMMIT } from './clone.js';
import { GitError, type GitOptions, HostGit } from './host-git.js';
import { type PushOfTask, PushError } from './push-record.js';
import { asRepositoryError } from './repository-error.js';
import type { RepositoryRules } from './repository-rules.js';

/** What is pushed, and where to. */
export interface Pushed {
  url: URL;
  /** The slug of the workspace: it decides on the credential. */
  workspace: string;
  ref: string | null;
  push: PushOfTask;
  base: Base;
  /** A pack of the original commit and its files. */
  files: string;
  /** Applies to the original commit; null when nothing differs. */
  patch: string | null;
  /** Of the commit. */
  message: string;
}

/** What the host has of it. */
interface Found {
  /** The commit at the tip of the branch; null when there is no such branch. */
  tip: string | null;
  /** The branch that the task began at; null when there is none of that name. */
  base: string | null;
}

const TIP = 'refs/millwright/tip';

/**
 * A branch of a host, written from a repository that is made anew in `folder`: it has the original commit, and no files in a tree. Nothing
 * that a patch names is ever opened on this host. All methods reject with {@link PushError}, and with the reason of the signal.
 */
export class RemoteBranch {
  private constructor(
    private readonly git: HostGit,
    private readonly about: Pushed,
    private readonly signal: AbortSignal,
  ) {}

  static async open(
    folder: string,
    about: Pushed,
    rules: RepositoryRules,
    limits: Pick<GitOptions, 'fileBytes' | 'memoryBytes' | 'seconds' | 'signal'>,
  ): Promise<RemoteBranch> {
    const { url, workspace, base, files } = about;
    try {
      const settings = await rules.connection(url, workspace, limits.signal);
      const git = new HostGit({ folder, protocol: 'https', settings, ...limits });
      await git.run(['init', '--quiet', '--bare', '--template=', git.repository]);
      // What the tree says of line ends, filters and encodings does not count, as in the comparison.
      await git.run(['index-pack', '--stdin'], { inputFile: files });
      await writeFile(join(git.repository, 'shallow'), `${base.commit}\n`);
      return new RemoteBranch(git, about, limits.signal);
    } catch (error) {
      limits.signal.throwIfAborted();
      throw failed(error);
    }
  }

  /** Asks the host for the branch. Rejects with `branch_moved` when the branch is there and its tip is no commit of the task. */
  async find(): Promise<Found> {
    const { push, ref, base, url } = this.about;
    const branch = `refs/heads/${push.branch}`;
    const started = base.branch ?? (ref === null || COMMIT.test(ref) ? null : ref);
    const names = started === null ? [branch] : [branch, `refs/heads/${started}`];
    const lines = (await this.reading(['ls-remote', '--', url.href, ...names]))
      .split('\n')
      .map((line) => line.split('\t'));
    const at = (name: string) => lines.find(([, found]) => found === name)?.[0] ?? null;
    const tip = at(branch);
    if (tip !== null && !push.commits.includes(tip)) throw moved(push.branch);
    return { tip, base: started !== null && at(`refs/heads/${started}`) !== null ? started : null };
  }

  /** Makes the commit that comes next in the branch; null when the branch has all of it. */
  async commit({ tip }: Found): Promise<string | null> {
    const { base, patch, url, message } = this.about;
    if (tip !== null) {
      const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--depth=1'];
      await this.reading(['fetch', ...quiet, '--', url.href, `+${tip}:${TIP}`]);
    }
    const parent = tip ?? base.commit;
    await this.making(['read-tree', base.commit]);
    if (patch !== null) await this.making(['apply', '--cached', '--whitespace=nowarn', '--', patch]);
    const tree = await this.making(['write-tree']);
    if (tree === (await this.making(['rev-parse', '--verify', `${parent}^{tree}`]))) return null;
    return this.making(['commit-tree', '-p', parent, '-F', '-', tree], message);
  }

  /** Moves the branch from what was found to a commit. A branch that was moved meanwhile stays as it is: `branch_moved`. */
  async push(commit: string, { tip }: Found): Promise<void> {
    const { push, url } = this.about;
    const name = `refs/heads/${push.branch}`;
    const how = ['--no-verify', '--no-progress', '--no-recurse-submodules', `--force-with-lease=${name}:${tip ?? ''}`];
    try {
      await this.git.run(['push', ...how, '--', url.href, `${commit}:${name}`]);
    } catch (error) {
      this.signal.throwIfAborted();
      throw notPushed(error, push.branch);
    }
  }

  private async reading(args: string[]): Promise<string> {
    try {
      return await this.git.run(args);
    } catch (error) {
      this.signal.throwIfAborted();
      throw failed(asRepositoryError(error));
    }
  }

  private async making(args: string[], input = ''): Promise<string> {
    try {
      return (await this.git.run(args, { input })).trim();
    } catch (error) {
      this.signal.throwIfAborted();
      throw failed(error);
    }
  }
}

function moved(branch: string, cause?: unknown): PushError {
  const message = `The branch ${branch} has a commit that this task did not make; it is left as it is.`;
  return new PushError('branch_moved', message, { cause });
}

function failed(error: unknown): PushError {
  if (error instanceof PushError) return error;
  const known = error instanceof GitError ? null : asRepositoryError(error).message;
  return new PushError('push_failed', known ?? 'The branch could not be made; the log of the service says why.', {
    cause: error,
  });
}

const NOT_ALLOWED = /could not read Username|Authentication failed|not found|returned error: 40[134]/i;

/** What git-push(1) has said of the one branch. What a host says in parentheses of a refusal is for the client, the rest for the operator. */
function notPushed(error: unknown, branch: string): PushError {
  const said = error instanceof Error ? error.message : '';
  if (/\[rejected\].*\((stale info|fetch first|non-fast-forward|already exists)\)/.test(said)) {
    return moved(branch, error);
  }
  const [, reason] = /\[remote rejected\].*\(([^()\n]{1,200})\)/.exec(said) ?? [];
  if (reason !== undefined) {
    return new PushError('push_refused', `The host refused the branch ${branch}: ${reason}.`, { cause: error });
  }
  if (NOT_ALLOWED.test(said)) {
    const message = 'The credential of this service may not write to the repository.';
    return new PushError('push_refused', message, { cause: error });
  }
  return new PushError('push_failed', 'The branch could not be pushed; the log of the service says why.', {
    cause: error,
  });
}
