import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Waits } from '../agent/waits.js';
import { bytesOf } from '../sandbox/workdir/folder-size.js';
import { GitError, type GitOptions, HostGit } from './host-git.js';
import { keepSkills } from './kept-skills.js';
import type { RepositoryAccess } from './repository-access.js';
import { asRepositoryError, RepositoryError, TOO_LARGE, wantsCredential } from './repository-error.js';
import type { RepositoryRules, RepositorySource } from './repository-rules.js';

/** What is to be cloned. */
export interface Wanted {
  url: string;
  /** A branch, a tag or a whole commit id; null for the default branch. */
  ref: string | null;
  /** The commit that it was, when it was cloned before. */
  commit: string | null;
  /** The slug of its workspace: it decides on the credential. */
  workspace: string;
}

/** The commit that a clone is of, and its branch; null for a tag or a commit. */
export interface Base {
  commit: string;
  branch: string | null;
}

type Limits = Pick<GitOptions, 'fileBytes' | 'memoryBytes' | 'seconds' | 'signal'> & { waits: Waits | undefined };

/** The first git(1) whose connections can be led to an address that was checked (`http.curloptResolve`). */
const OLDEST_GIT = [2, 37] as const;
export const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const FETCHED = 'refs/millwright/base';

/**
 * Clones one ref with its history and leaves two packs in the folder: `history.pack`, and `files.pack` with the commit's files alone.
 * Rejects with {@link RepositoryError}, and with the reason of the signal.
 */
export async function cloneInto(folder: string, wanted: Wanted, rules: RepositoryRules, limits: Limits): Promise<Base> {
  let source: RepositorySource | null = null;
  let access: RepositoryAccess | null = null;
  try {
    source = await rules.source(wanted.url);
    if (source.type === 'file') return await cloneFrom(folder, source, wanted, {}, limits);
    access = await rules.access(null, source.url, wanted.workspace);
    const base = await cloneWith(folder, source, wanted, rules, access, limits);
    await access?.accepted();
    return base;
  } catch (error) {
    limits.signal.throwIfAborted();
    throw asRepositoryError(
      error,
      source?.type === 'https' ? await rules.asked(source.url, wanted.workspace, access) : null,
    );
  }
}

/** Once more with a new token where the host has refused the first one. */
async function cloneWith(
  folder: string,
  source: RepositorySource,
  wanted: Wanted,
  rules: RepositoryRules,
  access: RepositoryAccess | null,
  limits: Limits,
): Promise<Base> {
  const over = limits.waits?.({ code: 'name', message: `The name ${source.url.hostname} is looked up.` });
  const settings = await rules.settings(source.url, wanted.workspace, access, limits.signal).finally(over);
  try {
    return await cloneFrom(folder, source, wanted, settings, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (!wantsCredential(error) || access === null || !(await access.refused())) throw error;
    return cloneWith(folder, source, wanted, rules, access, limits);
  }
}

async function cloneFrom(
  folder: string,
  source: RepositorySource,
  wanted: Wanted,
  settings: Record<string, string>,
  { waits, ...limits }: Limits,
): Promise<Base> {
  const over = waits?.({ code: 'clone', message: `The repository at ${source.url.href} is cloned.` });
  try {
    const git = new HostGit({ folder, protocol: source.type, settings, ...limits });
    await needNewEnough(git);
    await git.run(['init', '--quiet', '--bare', '--template=', git.repository]);
    const from = source.type === 'file' ? source.path : source.url.href;
    const { ref, branch } = await found(git, from, wanted);
    await fetch(git, source, from, ref);
    await needRoom(folder, limits.fileBytes);
    const commit = (await git.run(['rev-parse', '--verify', `${FETCHED}^{commit}`])).trim();
    await pack(git, `${commit}\n`, join(folder, 'history.pack'));
    await needRoom(folder, limits.fileBytes);
    await pack(git, `--shallow ${commit}\n${commit}\n`, join(folder, 'files.pack'));
    await keepSkills(git, commit, folder);
    await needRoom(folder, limits.fileBytes);
    await rm(git.repository, { recursive: true, force: true });
    return { commit, branch };
  } finally {
    over?.();
  }
}

async function needNewEnough(git: HostGit): Promise<void> {
  const printed = await git.run(['version']);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(printed) ?? []).slice(1).map(Number);
  const [least, at] = OLDEST_GIT;
  if (major > least || (major === least && minor >= at)) return;
  throw new GitError(`git ${OLDEST_GIT.join('.')} or later is needed on this host, this is ${printed.trim()}.`);
}

/** The limit of each file bounds what one call of git(1) writes; this bounds what all have written. */
async function needRoom(folder: string, most: number): Promise<void> {
  if ((await bytesOf(folder)) > most) throw new RepositoryError(TOO_LARGE);
}

/** What is to be fetched, and the branch that it is. */
async function found(
  git: HostGit,
  from: string,
  { ref, commit }: Wanted,
): Promise<{ ref: string; branch: string | null }> {
  if (commit !== null) return { ref: commit, branch: null };
  if (ref !== null && COMMIT.test(ref)) return { ref, branch: null };
  const names = ref === null ? ['HEAD'] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const lines = (await git.run(['ls-remote', '--symref', '--', from, ...names]))
    .split('\n')
    .map((line) => line.split('\t'));
  // A pattern is found at the end of longer names too.
  const there = names.find((name) => lines.some(([, found]) => found === name));
  if (there === undefined) {
    throw new RepositoryError(
      ref === null
        ? 'The repository is empty: it has no commit to begin at.'
        : `The repository has no branch or tag '${ref}'.`,
    );
  }
  const target = lines.find(([of, name]) => name === there && of?.startsWith('ref: ') === true)?.[0]?.slice(5) ?? there;
  return { ref: target, branch: /^refs\/heads\/(.+)$/.exec(target)?.[1] ?? null };
}

async function fetch(git: HostGit, source: RepositorySource, from: string, ref: string): Promise<void> {
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
  try {
    await git.run(['fetch', ...quiet, '--', from, `+${ref}:${FETCHED}`]);
  } catch (error) {
    if (
      !(error instanceof GitError) ||
      !COMMIT.test(ref) ||
      !/not our ref|did not send|no such remote ref/i.test(error.message)
    )
      throw error;
    throw new RepositoryError(`The repository at ${source.url.href} has no commit '${ref}'.`, { cause: error });
  }
}

function pack(git: HostGit, revisions: string, output: string): Promise<string> {
  const shallow = revisions.startsWith('--shallow') ? ['--shallow'] : [];
  return git.run(['pack-objects', '--quiet', '--revs', ...shallow, '--stdout'], { input: revisions, output });
}
