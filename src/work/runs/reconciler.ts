import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { InteractionExpiry } from '../../resources/tasks/interactions/interaction-expiry.js';
import { RunClaims } from './run-claims.js';
import { RunExecutor } from './run-executor.js';

/**
 * Brings a worker its work from PostgreSQL: at once by the signals of the channel, and each second by a look for what no
 * signal has brought. Recovery comes before new work, or it would stand behind the backlog.
 */
@Injectable()
export class Reconciler implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(Reconciler.name);
  private ticking: Promise<void> | null = null;
  private stopping = false;

  constructor(
    private readonly claims: RunClaims,
    private readonly executor: RunExecutor,
    private readonly expiry: InteractionExpiry,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.notices.on(
      'work',
      ({ kind, id }) => kind === RUNS && void this.executor.execute(id),
      () => this.tick(),
    );
  }

  @Interval(1000)
  tick(): void {
    if (this.stopping || this.ticking !== null) return;
    this.ticking = this.look()
      .catch((error: unknown) => this.logger.warn(`The look at the database failed: ${String(error)}`))
      .finally(() => (this.ticking = null));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.ticking;
  }

  private async look(): Promise<void> {
    for (const id of await this.claims.recoverExpired())
      this.logger.warn(`Run ${id} is taken from a worker that has not renewed its lease.`);
    await this.expiry.expire();
    await this.executor.fill();
  }
}
