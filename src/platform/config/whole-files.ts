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
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  sync(`${path}.new`);
  renameSync(`${path}.new`, path);
  sync(dirname(path));
  const { uid, gid } = statSync(dirname(path));
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
}

/**
 * Unless it is there: written whole under another name and linked into place, so that two processes at once agree on one. Whoever
 * wants the content reads it afterwards.
 */
export function writeOnce(path: string, content: string): void {
  const candidate = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(candidate, content, { mode: 0o600, flush: true });
    linkSync(candidate, path);
    sync(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(candidate, { force: true });
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
