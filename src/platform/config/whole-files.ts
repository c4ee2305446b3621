// Small files of DATA_DIR that are there whole or not at all, also after a power cut.
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** In place of what was there. The file belongs to the owner of its folder, also when root writes it. */
export function writeWhole(path: string, content: string): void {
  writeOwned(`${path}.new`, content);
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

/**
 * Unless it is there: written whole under another name and linked into place, so that two processes at once agree on one. The
 * caller reads the content afterwards. It belongs to whom {@link writeWhole} gives it.
 */
export function writeOnce(path: string, content: string): void {
  const candidate = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeOwned(candidate, content);
    putOnce(candidate, path, content);
    syncFolder(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(candidate, { force: true });
  }
}

/** How file systems (of networks, or in user space) say that they have no links, no owners, or nothing to sync of a folder. */
const NOT_OFFERED = new Set(['EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Throws `EEXIST` where it is there. */
function putOnce(candidate: string, path: string, content: string): void {
  try {
    linkSync(candidate, path);
  } catch (error) {
    if (!NOT_OFFERED.has(codeOf(error))) throw error;
    // The best there is: one of two processes makes it, and a crash in the middle leaves a part, which its reader refuses.
    writeOwned(path, content, 'wx');
  }
}

function writeOwned(path: string, content: string, flag: 'w' | 'wx' = 'w'): void {
  writeFileSync(path, content, { mode: 0o600, flush: true, flag });
  // A first boot as root would close it to the user that the service has later.
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    // Where root is nobody, or files have no owners, it belongs to whom the file system gives it.
    if (!NOT_OFFERED.has(codeOf(error))) throw error;
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!NOT_OFFERED.has(codeOf(error))) throw error;
  } finally {
    closeSync(descriptor);
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';
