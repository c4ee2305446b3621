import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Base, COMMIT } from './clone.js';
import { GitError, type GitOptions, HostGit } from './host-git.js';
import { type PushOfTask, PushError } from './push-record.js';
import type { RepositoryAccess } from './repository-access.js';
import {
  asRepositoryError,
  credentialOf,
  hostFailure,
  refusedCredential,
  wantsCredential,
  wordsOf,
} from './repository-error.js';
import type { RepositoryRules } from './repository-rules.js';

/** What is pushed, and where to. */
export interface Pushed {
  url: URL;
  /** As the host knows the repository. */
  path: string;
  /** The slug of the workspace. */
  workspace: string;
  /** With what it is written. */
  access: RepositoryAccess;
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
    private git: HostGit,
    private readonly about: Pushed,
    private readonly signal: AbortSignal,
    private readonly anew: () => Promise<HostGit>,
  ) {}

  static async open(
    folder: string,
    about: Pushed,
    rules: RepositoryRules,
    limits: Pick<GitOptions, 'fileBytes' | 'memoryBytes' | 'seconds' | 'signal'>,
  ): Promise<RemoteBranch> {
    const { url, workspace, access, base, files } = about;
    const connected = async () => {
      const settings = await rules.settings(url, workspace, access, limits.signal);
      return new HostGit({ folder, protocol: 'https', settings, ...limits });
    };
    try {
      const git = await connected();
      await git.run(['init', '--quiet', '--bare', '--template=', git.repository]);
      // What the tree says of line ends, filters and encodings does not count, as in the comparison.
      await git.run(['index-pack', '--stdin'], { inputFile: files });
      await writeFile(join(git.repository, 'shallow'), `${base.commit}\n`);
      return new RemoteBranch(git, about, limits.signal, connected);
    } catch (error) {
      limits.signal.throwIfAborted();
      throw notMade(error, about);
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
      throw notPushed(error, this.about);
    }
    await this.about.access.accepted();
  }

  /** Once more with a new token where the host has refused the first one. */
  private async reading(args: string[]): Promise<string> {
    const { url, access, path } = this.about;
    try {
      return await this.git.run(args);
    } catch (error) {
      this.signal.throwIfAborted();
      if (!wantsCredential(error) || !(await access.refused())) {
        throw failed(asRepositoryError(error, { url, path, access, otherPaths: [] }).message, error);
      }
    }
    this.git = await this.anew();
    return this.reading(args);
  }

  private async making(args: string[], input = ''): Promise<string> {
    try {
      return (await this.git.run(args, { input })).trim();
    } catch (error) {
      this.signal.throwIfAborted();
      throw notMade(error, this.about);
    }
  }
}

function moved(branch: string, cause?: unknown): PushError {
  const message = `The branch ${branch} has a commit that this task did not make; it is left as it is.`;
  return new PushError('branch_moved', message, { cause });
}

function failed(message: string, cause: unknown): PushError {
  return cause instanceof PushError ? cause : new PushError('push_failed', message, { cause });
}

/** What went wrong on this host, or on the way to the other. */
function notMade(error: unknown, { url, path, access, push }: Pushed): PushError {
  if (!(error instanceof GitError)) {
    return failed(asRepositoryError(error, { url, path, access, otherPaths: [] }).message, error);
  }
  return failed(`The branch ${push.branch} could not be made: ${wordsOf(error)} The next turn tries again.`, error);
}

const NOT_ALLOWED = /not found|returned error: 40[34]/i;

/** What git-push(1) has said of the one branch. What a host says in parentheses of a refusal is for the client. */
function notPushed(error: unknown, { url, path, access, push: { branch } }: Pushed): PushError {
  const said = error instanceof Error ? error.message : '';
  const cause = { cause: error };
  if (/\[rejected\].*\((stale info|fetch first|non-fast-forward|already exists)\)/.test(said)) {
    return moved(branch, error);
  }
  const [, reason] = /\[remote rejected\].*\(([^()\n]{1,200})\)/.exec(said) ?? [];
  if (reason !== undefined) {
    return new PushError('push_refused', `The host refused the branch ${branch}: ${reason}.`, cause);
  }
  if (wantsCredential(error)) return new PushError('push_refused', refusedCredential(access), cause);
  if (NOT_ALLOWED.test(said)) {
    const message = `The credential of ${credentialOf(access)} may not write to ${path}. Give it the right to write at ${url.host}.`;
    return new PushError('push_refused', message, cause);
  }
  const why = hostFailure(error, url) ?? wordsOf(error);
  return new PushError('push_failed', `The branch ${branch} could not be pushed: ${why}`, cause);
}
