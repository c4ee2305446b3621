import { Injectable, Logger } from '@nestjs/common';
import type { NetworkReport, NetworkUse } from '../../engine/sandbox/network/network-use.js';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { COUNT } from '../../resources/network/network-uses.sql.js';

/** Hosts of one task that are counted apart. */
const MOST_HOSTS = 500;

/** What the commands of this process's runs do with the network, on record each second and at the end of a run (reference §4). */
@Injectable()
export class RunNetwork {
  private readonly logger = new Logger(RunNetwork.name);
  /** By the id of a task, what has come since it was last written. */
  private readonly uses = new Map<string, NetworkUse[]>();

  constructor(private readonly database: Database) {}

  /** For the session of a task. */
  of(taskId: string): (uses: readonly NetworkUse[]) => void {
    return (uses) => this.uses.set(taskId, [...(this.uses.get(taskId) ?? []), ...uses]);
  }

  /** What has come of a task is on record then. Never rejects. */
  async write(taskId: string): Promise<void> {
    const uses = this.uses.get(taskId);
    if (uses === undefined) return;
    this.uses.delete(taskId);
    await this.database.work.run(COUNT({ taskId, uses, most: MOST_HOSTS })).catch((error: unknown) => {
      this.logger.warn(`What task ${taskId} did with the network was not counted: ${String(error)}`);
    });
  }

  @Chore({ every: 1_000 })
  async look(): Promise<void> {
    for (const taskId of [...this.uses.keys()]) await this.write(taskId);
  }
}

/** The hosts that were refused themselves, and not a value. */
export function namesOf({ hosts, refused }: NetworkReport): { hosts: readonly string[]; refused: string[] } {
  return { hosts, refused: refused.flatMap(({ host, code }) => (code.startsWith('secret_') ? [] : [host])) };
}
