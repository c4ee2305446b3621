import { chmodSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ConfigurationError, Env } from './env.js';
import { removeReachable, removeTree } from './reachable.js';

/**
 * The folder for everything that is not in the database: files, generated secret, embedded server.
 * With `NODE_ENV=test` and no `DATA_DIR` each application instance has a temporary one of its own (reference §16).
 */
@Injectable()
export class DataDir {
  readonly path: string;
  /** True for the temporary folder of a test: {@link remove} deletes it. */
  readonly temporary: boolean;

  constructor(env: Env) {
    const given = env.variables.DATA_DIR;
    this.temporary = given === undefined && env.test;
    const named = this.temporary ? mkdtempSync(join(tmpdir(), 'millwright-')) : resolve(given ?? '.data');
    const made = makeFolder(named);
    // Without links: the sandbox compares paths with what the kernel says.
    this.path = realpathSync(named);
    // The users that root starts the database and the sandbox as pass through it, but cannot list it. What lies in it
    // is closed itself (0700, 0600). The mode of a folder that was given is its owner's business.
    if ((made || this.temporary) && process.getuid?.() === 0) chmodSync(this.path, 0o711);
  }

  /** Called when the application has closed everything that uses the folder. */
  remove(): void {
    if (!this.temporary) return;
    removeTree(this.path);
    removeReachable(this.path);
  }
}

/** Whether it was not there before. Throws {@link ConfigurationError}. */
function makeFolder(path: string): boolean {
  try {
    return make(path);
  } catch (error) {
    throw new ConfigurationError(`DATA_DIR: a folder that can be made is expected (${(error as Error).message}).`);
  }
}

// Not by the option `recursive`: where the system makes no folders, in /proc for one, Node then tries for ever.
function make(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return false;
  if (found !== undefined) throw new Error(`${path} is not a folder`);
  make(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
