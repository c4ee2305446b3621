import { hostname } from 'node:os';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env } from '../../platform/config/env.js';
import { VERSION } from '../../platform/config/version.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { BEAT, LEAVE } from './machines.sql.js';
import { makeMachine } from './machine-file.js';

/** A beat that takes longer has failed. Milliseconds. */
const LIMIT_MS = 4_000;

/**
 * The machine of this process: the processes that work with one `DATA_DIR` (docs/decisions/0093). Every 5 seconds this one says that it
 * works, and hears whether it is to end.
 */
@Injectable()
export class Machine implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Machine.name);
  readonly id: string;
  private readonly workerId = newId();
  private readonly places: number;
  private last = { draining: false, several: false };
  private onDrain: () => void = () => undefined;
  private left = false;
  private beating: Promise<unknown> = Promise.resolve();

  constructor(
    dataDir: DataDir,
    env: Env,
    private readonly database: Database,
  ) {
    this.id = makeMachine(dataDir.path);
    this.places = env.variables.WORKER_CONCURRENCY;
  }

  /** Whether another machine takes runs too. */
  get several(): boolean {
    return this.last.several;
  }

  /** Whether another machine has the folders of the task, as far as this process knows. */
  lacks({ folderAt }: { folderAt: string | null }): boolean {
    return folderAt !== null && folderAt !== this.id;
  }

  /** Calls it once, when an operator has told this machine to end. */
  drained(act: () => void): void {
    this.onDrain = act;
  }

  /** Its row is there before others look for it, but no boot fails for want of it. */
  async onApplicationBootstrap(): Promise<void> {
    await this.beat().catch((error: unknown) =>
      this.logger.warn(`This machine is not on record yet: ${String(error)}`),
    );
  }

  @Chore({ every: 5_000 })
  async beat(): Promise<void> {
    if (this.left) return;
    const about = {
      workerId: this.workerId,
      machineId: this.id,
      host: hostname(),
      places: this.places,
      version: VERSION,
    };
    const answer = this.database.polling.run(BEAT(about), LIMIT_MS);
    this.beating = answer.catch(() => undefined);
    const [found = this.last] = await answer;
    const tell = found.draining && !this.last.draining;
    this.last = found;
    if (tell) this.onDrain();
  }

  /** Before runs are handed back: the others are not to leave them to this one. */
  async leave(): Promise<void> {
    if (this.left) return;
    this.left = true;
    // Its row would come back.
    await this.beating;
    await this.database.polling.run(LEAVE({ workerId: this.workerId }), LIMIT_MS).catch((error: unknown) => {
      this.logger.warn(`This machine is on record for some seconds more: ${String(error)}`);
    });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.leave();
  }
}
