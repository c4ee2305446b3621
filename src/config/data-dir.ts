import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Env } from './env.js';

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
    this.path = this.temporary ? mkdtempSync(join(tmpdir(), 'millwright-')) : resolve(given ?? '.data');
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
  }

  /** Called when the application has closed everything that uses the folder. */
  remove(): void {
    if (this.temporary) rmSync(this.path, { recursive: true, force: true });
  }
}
