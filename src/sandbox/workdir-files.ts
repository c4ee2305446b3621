import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lchown, lstat, mkdir, open, readlink, rename, rm } from 'node:fs/promises';
import { posix } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxFileError } from './sandbox.js';
import { insideWorkdir } from './workdirs.js';

// open(2): a handle that neither reads nor triggers anything, whatever it is of. Node has no constant for it.
const O_PATH = 0o10000000;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * Files of a workdir, read and written from outside while the agent's processes change it. A path is never trusted
 * after a check: a handle is opened, the kernel says where that lies (`/proc/self/fd`), and all else goes through it.
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
    const handle = await this.guard(path, open(target, O_PATH));
    try {
      await this.assertInside(handle, path);
      const { nlink, size } = await regular(handle, path);
      if (nlink > 1)
        throw new SandboxFileError('not_a_file', `${path} has several hard links; read a copy of it (cp).`);
      const file = await this.guard(path, open(through(handle), O_RDONLY));
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
    const folder = await this.openFolder(posix.dirname(target), path);
    const name = through(folder, posix.basename(target));
    const draft = through(folder, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const mode = await existingMode(name, path);
      const file = await this.guard(path, open(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
      try {
        await this.fill(file, content, path);
        if (this.owner !== null) await file.chown(this.owner, this.owner);
        await file.chmod(mode);
      } finally {
        await file.close();
      }
      // Replaces a link too, never what it points to.
      await this.guard(path, rename(draft, name));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    } finally {
      await folder.close();
    }
  }

  private hostPath(path: string): string {
    const full = path.includes('\0') ? null : insideWorkdir(path, this.inside);
    if (full === null) throw new SandboxFileError('outside', `${path} is outside of ${this.inside}.`);
    return posix.join(this.workdir, posix.relative(this.inside, full));
  }

  /** A handle of a folder of the workdir, made with all above it when missing. */
  private async openFolder(folder: string, path: string): Promise<FileHandle> {
    let handle = await this.guard(path, open(this.workdir, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    for (const part of posix.relative(this.workdir, folder).split('/').filter(Boolean)) {
      const next = this.step(handle, part, path);
      await next.catch(() => undefined);
      await handle.close();
      handle = await next;
    }
    return handle;
  }

  private async step(parent: FileHandle, part: string, path: string): Promise<FileHandle> {
    const place = through(parent, part);
    let next = await open(place, O_PATH | O_DIRECTORY).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw fileError(error, path);
    });
    if (next === null) {
      await this.guard(path, mkdir(place, { mode: 0o755 }).catch(ignoreExisting));
      // Whatever stands there by now lies in a folder of the agent's, who may own it anyway.
      if (this.owner !== null) await this.guard(path, lchown(place, this.owner, this.owner));
      next = await this.guard(path, open(place, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    }
    try {
      await this.assertInside(next, path);
    } catch (error) {
      await next.close();
      throw error;
    }
    return next;
  }

  private async assertInside(handle: FileHandle, path: string): Promise<void> {
    const [place, root] = [await readlink(through(handle)), this.workdir];
    if (place === root || place.startsWith(`${root}/`)) return;
    throw new SandboxFileError('outside', `${path} leads out of ${this.inside} by a link; use a path without it.`);
  }

  private async fill(file: FileHandle, content: string | Buffer | Readable, path: string): Promise<void> {
    let left = this.maxBytes;
    const limit = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        left -= chunk.length;
        if (left < 0) done(new SandboxFileError('too_large', `${path} would exceed the disk limit of the sandbox.`));
        else done(null, chunk);
      },
    });
    const source = content instanceof Readable ? content : Readable.from([Buffer.from(content)]);
    await pipeline(source, limit, file.createWriteStream({ autoClose: false }));
  }

  private async guard<T>(path: string, action: Promise<T>): Promise<T> {
    try {
      return await action;
    } catch (error) {
      throw fileError(error as NodeJS.ErrnoException, path);
    }
  }
}

function through(handle: FileHandle, name?: string): string {
  return name === undefined ? `/proc/self/fd/${handle.fd}` : `/proc/self/fd/${handle.fd}/${name}`;
}

async function regular(handle: FileHandle, path: string) {
  const found = await handle.stat();
  if (found.isFile()) return found;
  throw new SandboxFileError('not_a_file', `${path} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}.`);
}

/** Rights of the file that is replaced, so that a script stays executable. */
async function existingMode(name: string, path: string): Promise<number> {
  const found = await lstat(name).catch(() => null);
  if (found?.isDirectory() === true) throw new SandboxFileError('not_a_file', `${path} is a folder.`);
  return found?.isFile() === true ? found.mode & 0o777 : 0o644;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
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
