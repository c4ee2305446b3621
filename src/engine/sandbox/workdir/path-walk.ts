import { closeSync, constants, lchownSync, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import { SandboxFileError } from '../sandbox.js';
import { isWithin } from './workdirs.js';

// open(2): a handle that neither reads nor triggers anything, whatever it is of. Node has no constant for it.
export const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** As the kernel has it (path_resolution(7)). */
const MAX_LINKS = 40;
/**
 * Names of one walk, those of its links included. A walk blocks the process, and 40 links of 4,000 characters each have
 * 64,000 names, which took 2 s.
 */
const MAX_NAMES = 1_000;

/** A folder that paths may lead to: as the host names it, and as it is named inside. */
export interface Root {
  path: string;
  inside: string;
}

/** Where a path leads when all links are followed. */
export interface Target {
  /** Descriptor of a folder below a root; the caller closes it. */
  folder: number;
  /** In that folder: a file, or nothing yet. Null when the path is the folder itself. */
  name: string | null;
}

/** One name of a path that is still to be walked. */
interface Step {
  name: string;
  /** Nothing is made there when it is missing, as the kernel would not. */
  fromLink: boolean;
}

/**
 * Walks paths below the roots of a task, name by name, from outside and while the agent's processes change them. The kernel follows no
 * link here, for it would follow one into the host, and an absolute one means a path inside of the sandbox. This class reads a link
 * and walks its names instead; of each folder that is reached the kernel says where it lies.
 */
export class PathWalk {
  constructor(
    /** A path that is not absolute begins at the first one. No root lies in another one. */
    private readonly roots: readonly [Root, ...Root[]],
    /** Owner of the folders that it makes; null for the process's own. */
    private readonly owner: number | null,
  ) {}

  /**
   * Throws {@link SandboxFileError} when the path leads out, in a circle, through too many names, or through what is no
   * folder. With `make` the folders that are missing on the way are made. With `noLinks` it throws at a link on the way, and takes one at
   * its end for the name itself.
   */
  find(path: string, { make, noLinks = false }: { make: boolean; noLinks?: boolean }): Target {
    const full = posix.resolve(this.roots[0].inside, path);
    let root = path.includes('\0') ? undefined : this.rootOf(full);
    if (root === undefined) throw new SandboxFileError('outside', `${path} is outside of ${this.names}.`);
    const steps = namesOf(posix.relative(root.inside, full)).map((name) => ({ name, fromLink: false }));
    let folder = openRoot(root, path);
    try {
      for (let names = 0, links = 0; ; names++) {
        const step = steps.shift();
        if (step === undefined) return { folder, name: null };
        if (names >= MAX_NAMES) throw fileError({ code: 'ELOOP' }, path);
        const found = readLink(through(folder, step.name), path);
        const link = noLinks && steps.length === 0 ? null : found;
        if (noLinks && link !== null) throw new SandboxFileError('outside', `${path} leads through a link.`);
        if (link === null && steps.length === 0 && step.name !== '..') return { folder, name: step.name };
        if (link !== null && ++links > MAX_LINKS) throw fileError({ code: 'ELOOP' }, path);
        const parent = folder;
        if (link === null) folder = this.enter(parent, root, step, path, make);
        else {
          const from = this.follow(link, steps, path);
          if (from === 'here') continue;
          root = from;
          folder = openRoot(root, path);
        }
        closeSync(parent);
      }
    } catch (error) {
      closeSync(folder);
      throw error;
    }
  }

  /** Puts the names of a link before those that are left. Returns the root that they begin at, or `here` for the folder of the link. */
  private follow(link: string, steps: Step[], path: string): 'here' | Root {
    const root = link.startsWith('/') ? this.rootOf(link) : null;
    if (root === undefined) throw this.leadsOut(path);
    const names = namesOf(root === null ? link : link.slice(root.inside.length));
    steps.unshift(...names.map((name) => ({ name, fromLink: true })));
    return root ?? 'here';
  }

  private rootOf(path: string): Root | undefined {
    return this.roots.find(({ inside }) => isWithin(path, inside));
  }

  private get names(): string {
    const names = this.roots.map(({ inside }) => inside);
    return names.length === 1 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  }

  private enter(parent: number, root: Root, { name, fromLink }: Step, path: string, make: boolean): number {
    const entry = through(parent, name);
    const next = withPath(path, () => existingFolder(entry) ?? (make && !fromLink ? this.makeFolder(entry) : null));
    if (next === null && !make) throw fileError({ code: 'ENOENT' }, path);
    if (next === null) {
      throw new SandboxFileError('not_a_file', `${path} leads by a link to a folder that does not exist.`);
    }
    try {
      this.assertInside(next, root, path);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    return next;
  }

  private makeFolder(entry: string): number {
    try {
      mkdirSync(entry, { mode: 0o755 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    // Whatever stands there by now lies in a folder of the agent's, who may own it anyway.
    if (this.owner !== null) lchownSync(entry, this.owner, this.owner);
    return openSync(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }

  private assertInside(descriptor: number, root: Root, path: string): void {
    // Fails when the folder lies so deep that its path is longer than the kernel returns.
    const entry = withPath(path, () => readlinkSync(through(descriptor)));
    if (!isWithin(entry, root.path)) throw this.leadsOut(path);
  }

  private leadsOut(path: string): SandboxFileError {
    return new SandboxFileError('outside', `${path} leads out of ${this.names} by a link; use a path without it.`);
  }
}

function openRoot(root: Root, path: string): number {
  return withPath(path, () => openSync(root.path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
}

/** The name of an open file, or of something in an open folder, whatever has been renamed meanwhile. */
export function through(descriptor: number, name?: string): string {
  return name === undefined ? `/proc/self/fd/${descriptor}` : `/proc/self/fd/${descriptor}/${name}`;
}

/** Calls it; what the system throws becomes a {@link SandboxFileError} about that path. */
export function withPath<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileError(error as NodeJS.ErrnoException, path);
  }
}

export function fileError(error: Pick<NodeJS.ErrnoException, 'code'> & { message?: string }, path: string): Error {
  switch (error.code) {
    case 'ENOENT':
      return new SandboxFileError('not_found', `${path} does not exist.`);
    case 'ENOTDIR':
      return new SandboxFileError('not_a_file', `${path}: something in this path is not a folder.`);
    case 'EISDIR':
      return new SandboxFileError('not_a_file', `${path} is a folder.`);
    case 'ELOOP':
      return new SandboxFileError('outside', `${path} leads through a circle of links, or through too many of them.`);
    default:
      return new SandboxFileError('failed', `${path}: ${error.code ?? error.message}.`);
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** What a link says; null for everything else, and for nothing. */
function readLink(entry: string, path: string): string | null {
  const found = withPath(path, () => lstatSync(entry, { throwIfNoEntry: false }));
  if (found?.isSymbolicLink() !== true) return null;
  try {
    return readlinkSync(entry);
  } catch (error) {
    // It was replaced or removed since the check.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EINVAL' || code === 'ENOENT') return null;
    throw fileError(error as NodeJS.ErrnoException, path);
  }
}

/** Null when there is nothing of that name. Never follows a link: one that has just come is no folder. */
function existingFolder(entry: string): number | null {
  try {
    return openSync(entry, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
