import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { SandboxFileError } from '../sandbox.js';
import { insideWorkdir } from './workdirs.js';

// open(2): a handle that neither reads nor triggers anything, whatever it is of. Node has no constant for it.
const O_PATH = 0o10000000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** Bytes that are written at once: into the cache of the kernel that takes no longer than handing them to a thread. */
const SMALL = 64 * 1024;
const append = promisify(writeFile);

/**
 * Files of a workdir, read and written from outside while the agent's processes change it. A path is never trusted
 * after a check: a handle is opened, the kernel says where that lies (`/proc/self/fd`), and all else goes through it.
 *
 * What only looks at or changes entries of folders is called synchronously: on a local disk it takes some 10 µs, and handing
 * each of the dozen calls of a write to a thread took 100 µs. Nothing opened so waits for another end, as a pipe would.
 */
export class WorkdirFiles {
  constructor(
    private readonly workdir: string,
    private readonly inside: string,
    /** Owner of what is written; null for the process's own. */
    private readonly owner: number | null,
    private readonly maxBytes: number,
  ) {}

  async read(path: string): Promise<{ size: number; content: Readable }> {
    const target = this.hostPath(path);
    const handle = await this.later(path, open(target, O_PATH));
    try {
      this.assertInside(handle.fd, path);
      const { nlink, size } = await regular(handle, path);
      if (nlink > 1)
        throw new SandboxFileError('not_a_file', `${path} has several hard links; read a copy of it (cp).`);
      const file = await this.later(path, open(through(handle.fd), O_RDONLY));
      // What it had when it was opened: a file that grows meanwhile does not make the answer longer.
      const content = size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1 });
      if (size === 0) await file.close();
      return { size, content };
    } finally {
      await handle.close();
    }
  }

  async write(path: string, content: string | Buffer | Readable): Promise<void> {
    const target = this.hostPath(path);
    if (target === this.workdir) throw new SandboxFileError('not_a_file', `${path} is a folder.`);
    const folder = this.openFolder(posix.dirname(target), path);
    const name = through(folder, posix.basename(target));
    const draft = through(folder, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const replaced = this.now(path, () => lstatSync(name, { throwIfNoEntry: false }));
      if (replaced?.isDirectory() === true) throw new SandboxFileError('not_a_file', `${path} is a folder.`);
      const file = this.now(path, () => openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
      try {
        if (content instanceof Readable) await this.fill(file, content, path);
        else await this.put(file, content, path);
        if (this.owner !== null) fchownSync(file, this.owner, this.owner);
        // A script stays executable.
        fchmodSync(file, replaced?.isFile() === true ? replaced.mode & 0o777 : 0o644);
      } finally {
        closeSync(file);
      }
      // Replaces a link too, never what it points to.
      this.now(path, () => renameSync(draft, name));
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    } finally {
      closeSync(folder);
    }
  }

  private hostPath(path: string): string {
    const full = path.includes('\0') ? null : insideWorkdir(path, this.inside);
    if (full === null) throw new SandboxFileError('outside', `${path} is outside of ${this.inside}.`);
    return posix.join(this.workdir, posix.relative(this.inside, full));
  }

  /** A descriptor of a folder of the workdir, made with all above it when missing. */
  private openFolder(folder: string, path: string): number {
    let open = this.now(path, () => openSync(this.workdir, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    for (const part of posix.relative(this.workdir, folder).split('/').filter(Boolean)) {
      const parent = open;
      try {
        open = this.step(parent, part, path);
      } finally {
        closeSync(parent);
      }
    }
    return open;
  }

  private step(parent: number, part: string, path: string): number {
    const place = through(parent, part);
    const next = this.now(path, () => existingFolder(place) ?? this.makeFolder(place));
    try {
      this.assertInside(next, path);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    return next;
  }

  private makeFolder(place: string): number {
    try {
      mkdirSync(place, { mode: 0o755 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    // Whatever stands there by now lies in a folder of the agent's, who may own it anyway.
    if (this.owner !== null) lchownSync(place, this.owner, this.owner);
    return openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }

  private assertInside(descriptor: number, path: string): void {
    const [place, root] = [readlinkSync(through(descriptor)), this.workdir];
    if (place === root || place.startsWith(`${root}/`)) return;
    throw new SandboxFileError('outside', `${path} leads out of ${this.inside} by a link; use a path without it.`);
  }

  private async put(file: number, content: string | Buffer, path: string): Promise<void> {
    const size = Buffer.byteLength(content);
    if (size > this.maxBytes) throw this.tooLarge(path);
    if (size > SMALL) await this.later(path, append(file, content));
    else this.now(path, () => writeFileSync(file, content));
  }

  private async fill(file: number, content: Readable, path: string): Promise<void> {
    let left = this.maxBytes;
    for await (const chunk of content as AsyncIterable<string | Buffer>) {
      const bytes = Buffer.from(chunk);
      left -= bytes.length;
      if (left < 0) throw this.tooLarge(path);
      // From the position where the last one ended.
      await this.later(path, append(file, bytes));
    }
  }

  private tooLarge(path: string): SandboxFileError {
    return new SandboxFileError('too_large', `${path} would exceed the disk limit of the sandbox.`);
  }

  private now<T>(path: string, action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw fileError(error as NodeJS.ErrnoException, path);
    }
  }

  private async later<T>(path: string, action: Promise<T>): Promise<T> {
    try {
      return await action;
    } catch (error) {
      throw fileError(error as NodeJS.ErrnoException, path);
    }
  }
}

function through(descriptor: number, name?: string): string {
  return name === undefined ? `/proc/self/fd/${descriptor}` : `/proc/self/fd/${descriptor}/${name}`;
}

/** Null when there is nothing of that name. Follows a link: where it leads is looked at afterwards. */
function existingFolder(place: string): number | null {
  try {
    return openSync(place, O_PATH | O_DIRECTORY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function regular(handle: FileHandle, path: string) {
  const found = await handle.stat();
  if (found.isFile()) return found;
  throw new SandboxFileError('not_a_file', `${path} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}.`);
}

function fileError(error: NodeJS.ErrnoException, path: string): Error {
  switch (error.code) {
    case 'ENOENT':
      return new SandboxFileError('not_found', `${path} does not exist.`);
    case 'ENOTDIR':
      return new SandboxFileError('not_a_file', `${path}: something in this path is not a folder.`);
    case 'EISDIR':
      return new SandboxFileError('not_a_file', `${path} is a folder.`);
    case 'ELOOP':
      return new SandboxFileError('outside', `${path} leads through links that go in a circle.`);
    default:
      return new SandboxFileError('failed', `${path}: ${error.code ?? error.message}.`);
  }
}
