import { access, constants } from 'node:fs/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DataDir } from '../config/data-dir.js';
import { Database } from '../database/database.js';

type State = 'ok' | 'unavailable';

/** Whether this process can serve. */
@Injectable()
export class Readiness implements OnModuleDestroy {
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly dataDir: DataDir,
  ) {}

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async check(): Promise<Record<'process' | 'database' | 'storage', State>> {
    const [database, storage] = await Promise.all([
      stateOf(this.database.read.query('SELECT 1')),
      stateOf(access(this.dataDir.path, constants.W_OK)),
    ]);
    return { process: this.stopping ? 'unavailable' : 'ok', database, storage };
  }
}

function stateOf(check: Promise<unknown>): Promise<State> {
  return check.then(
    () => 'ok',
    () => 'unavailable',
  );
}
