import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { WorkLoop } from '../../platform/jobs/work-loop.js';
import { Notices } from '../../platform/notices/notices.js';
import { Occurrences } from './occurrences.js';

/** How long it sleeps at most: what is written meanwhile may be due sooner, and its notice may be lost. Milliseconds. */
const LOOK_MS = 1_000;
/** When all that is due is in the hands of others, or cannot be fired now. */
const TAKEN_MS = 100;

/** Is awake when the earliest occurrence is due, in each process that works. There is no leader: rows are taken, never doubled. */
@Injectable()
export class OccurrenceTicker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly loop = new WorkLoop({ at: 'what is due', look: () => this.look(), retryMs: LOOK_MS });

  constructor(
    private readonly occurrences: Occurrences,
    private readonly notices: Notices,
  ) {}

  onApplicationBootstrap(): void {
    const wake = () => void this.loop.wake();
    this.notices.on('automation', wake, wake);
    wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.loop.end();
  }

  /** Fires what is due. Resolves with how long to sleep. */
  private async look(): Promise<number> {
    const dueIn = (await this.occurrences.dueIn()) ?? LOOK_MS;
    if (dueIn > 0) return Math.min(dueIn, LOOK_MS);
    return (await this.occurrences.fireDue(this.stopping.signal)) > 0 ? 0 : TAKEN_MS;
  }
}
