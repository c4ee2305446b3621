import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Notices } from '../../platform/notices/notices.js';
import { Occurrences } from './occurrences.js';

/** How long it sleeps at most: what is written meanwhile may be due sooner, and its notice may be lost. Milliseconds. */
const LOOK_MS = 1_000;
/** When all that is due is in the hands of others, or cannot be fired now. */
const TAKEN_MS = 100;

/** Is awake when the earliest occurrence is due, in each process that works. There is no leader: rows are taken, never doubled. */
@Injectable()
export class OccurrenceTicker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Automations');
  private readonly stopping = new AbortController();
  private looking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private again = false;

  constructor(
    private readonly occurrences: Occurrences,
    private readonly notices: Notices,
  ) {}

  onApplicationBootstrap(): void {
    const wake = () => this.wake();
    this.notices.on('automation', wake, wake);
    wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.looking;
  }

  private wake(): void {
    if (this.stopping.signal.aborted) return;
    if (this.looking !== null) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    this.looking = this.look()
      .catch((error: unknown) => {
        this.logger.warn(`The look for what is due failed: ${String(error)}`);
        return LOOK_MS;
      })
      .then((ms) => {
        this.looking = null;
        this.sleep(this.again ? 0 : ms);
      });
  }

  private sleep(ms: number): void {
    this.again = false;
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => this.wake(), Math.ceil(ms));
  }

  /** Fires what is due. Resolves with how long to sleep. */
  private async look(): Promise<number> {
    const dueIn = (await this.occurrences.dueIn()) ?? LOOK_MS;
    if (dueIn > 0) return Math.min(dueIn, LOOK_MS);
    return (await this.occurrences.fireDue(this.stopping.signal)) > 0 ? 0 : TAKEN_MS;
  }
}
