import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { WriteOptions } from '../write-options.js';
import { type OpenedFile, SandboxFileError } from '../sandbox.js';
import type { Size } from './folder-size.js';
import { fileError, O_PATH, PathWalk, type Root, through, withPath } from './path-walk.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Bytes that are written at once: into the cache of the kernel that takes no longer than handing them to a thread. */
const SMALL = 64 * 1024;
const append = promisify(writeFile);

/**
 * Files of the folders of a task, read and written from outside while the agent's processes change it. A path is never trusted
 * after a check: a handle is opened, the kernel says where that lies (`/proc/self/fd`), and all else goes through it.
 *
 * Calls that only read or change entries of folders are synchronous: on a local disk it takes some 10 µs, and handing
 * each of the dozen calls of a write to a thread took 100 µs. Nothing opened so waits for another end, as a pipe would.
 */
export class WorkdirFiles {
  private readonly walk: PathWalk;
  /** Descriptors of what is being written. */
  private readonly drafts = new Set<number>();

  constructor(
    roots: readonly [Root, ...Root[]],
    /** Owner of what is written; null for the process's own. */
    private readonly owner: number | null,
    private readonly maxBytes: number,
  ) {
    this.walk = new PathWalk(roots, owner);
  }

  async read(path: string): Promise<OpenedFile> {
    const descriptor = this.openAt(path);
    try {
      const { nlink, size, blocks } = regular(fstatSync(descriptor), path);
      if (nlink > 1)
        throw new SandboxFileError('not_a_file', `${path} has several hard links; read a copy of it (cp).`);
      const file = await this.later(path, open(through(descriptor), O_RDONLY));
      // What it had when it was opened: a file that grows meanwhile does not make the answer longer.
      const content = size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1 });
      if (size === 0) await file.close();
      // stat(2) counts blocks of 512 bytes, whatever the file system's own are.
      return { size, sizeOnDisk: blocks * 512, content };
    } finally {
      closeSync(descriptor);
    }
  }

  /** Replaces the file that the path leads to, by links too. A link that appears there meanwhile is replaced and never followed. */
  async write(
    path: string,
    content: string | Buffer | Readable,
    { noLinks = false }: WriteOptions = {},
  ): Promise<void> {
    const { folder, name } = this.fileAt(path, { make: true, noLinks });
    const target = through(folder, name);
    const draft = through(folder, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const replaced = withPath(path, () => lstatSync(target, { throwIfNoEntry: false }));
      if (replaced?.isDirectory() === true) throw new SandboxFileError('not_a_file', `${path} is a folder.`);
      const file = withPath(path, () => openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
      this.drafts.add(file);
      try {
        if (content instanceof Readable) await this.writeStream(file, content, path);
        else await this.put(file, content, path);
        if (this.owner !== null) fchownSync(file, this.owner, this.owner);
        // A script stays executable.
        fchmodSync(file, replaced?.isFile() === true ? replaced.mode & 0o777 : 0o644);
      } finally {
        this.drafts.delete(file);
        closeSync(file);
      }
      withPath(path, () => renameSync(draft, target));
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    } finally {
      closeSync(folder);
    }
  }

  /** Adds to a regular file of one name, or makes it; no link is followed. */
  async append(path: string, content: Buffer): Promise<void> {
    const { folder, name } = this.fileAt(path, { make: true, noLinks: true });
    try {
      // Nothing waits for the other end of a pipe.
      const flags = O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY;
      const file = withPath(path, () => openSync(through(folder, name), flags, 0o644));
      try {
        const { nlink, uid } = regular(fstatSync(file), path);
        if (nlink > 1) throw new SandboxFileError('not_a_file', `${path} has several hard links.`);
        if (this.owner !== null && uid !== this.owner) fchownSync(file, this.owner, this.owner);
        await this.later(path, append(file, content));
      } finally {
        closeSync(file);
      }
    } finally {
      closeSync(folder);
    }
  }

  /** Files that are being written and have no name any more: measuring the folders does not find them. */
  get nameless(): Size {
    const found = [...this.drafts].map((draft) => fstatSync(draft)).filter(({ nlink }) => nlink === 0);
    // stat(2) counts blocks of 512 bytes, whatever the file system's own are.
    return { bytes: found.reduce((sum, { blocks }) => sum + blocks * 512, 0), inodes: found.length };
  }

  private openAt(path: string): number {
    const { folder, name } = this.fileAt(path, { make: false });
    try {
      return withPath(path, () => openSync(through(folder, name), O_PATH | O_NOFOLLOW));
    } finally {
      closeSync(folder);
    }
  }

  /** Where a path leads that is to be a file; the caller closes the folder. */
  private fileAt(path: string, how: { make: boolean; noLinks?: boolean }): { folder: number; name: string } {
    const { folder, name } = this.walk.find(path, how);
    if (name !== null) return { folder, name };
    closeSync(folder);
    throw new SandboxFileError('not_a_file', `${path} is a folder.`);
  }

  private async put(file: number, content: string | Buffer, path: string): Promise<void> {
    const size = Buffer.byteLength(content);
    if (size > this.maxBytes) throw this.tooLarge(path);
    if (size > SMALL) await this.later(path, append(file, content));
    else withPath(path, () => writeFileSync(file, content));
  }

  private async writeStream(file: number, content: Readable, path: string): Promise<void> {
    let left = this.maxBytes;
    for await (const chunk of content as AsyncIterable<string | Buffer>) {
      const bytes = Buffer.from(chunk);
      left -= bytes.length;
      if (left < 0) throw this.tooLarge(path);
      // What a command deletes meanwhile would grow on, and be of no use.
      if (fstatSync(file).nlink === 0)
        throw new SandboxFileError('failed', `${path} was deleted while it was written.`);
      // From the position where the last one ended.
      await this.later(path, append(file, bytes));
    }
  }

  private tooLarge(path: string): SandboxFileError {
    return new SandboxFileError('too_large', `${path} would exceed the disk limit of the sandbox.`);
  }

  private async later<T>(path: string, action: Promise<T>): Promise<T> {
    try {
      return await action;
    } catch (error) {
      throw fileError(error as NodeJS.ErrnoException, path);
    }
  }
}

function regular(found: Stats, path: string): Stats {
  if (found.isFile()) return found;
  throw new SandboxFileError('not_a_file', `${path} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}.`);
}
