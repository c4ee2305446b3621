import { type BeforeApplicationShutdown, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { WorkLoop } from '../../platform/jobs/work-loop.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { InteractionsService } from '../../resources/tasks/interactions/interactions.service.js';
import { TaskChildren } from '../../resources/tasks/children/task-children.js';
import { TaskPause } from '../../resources/tasks/task-pause.js';
import { RunClaims } from './run-claims.js';
import { RunExecutor } from './run-executor.js';

/**
 * Brings a worker its work from PostgreSQL: at once by notices, and each second by a look for what no
 * notice has brought. Recovery comes before new work, or it would stand behind the backlog.
 */
@Injectable()
export class Reconciler implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(Reconciler.name);
  private readonly parents = new WorkLoop({ at: 'tasks that wait for others', look: () => this.children.wake() });
  private readonly loop = new WorkLoop({ at: 'the runs', look: () => this.look() });

  constructor(
    private readonly claims: RunClaims,
    private readonly executor: RunExecutor,
    private readonly interactions: InteractionsService,
    private readonly pauses: TaskPause,
    private readonly children: TaskChildren,
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
    void this.loop.wake();
  }

  /** Who ends the last task of a parent wakes that: this finds what was lost on the way, and those that have waited too long. */
  @Interval(60_000)
  wakeParents(): Promise<void> {
    return this.parents.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.loop.end(), this.parents.end()]);
  }

  private async look(): Promise<void> {
    for (const id of await this.claims.recoverExpired())
      this.logger.warn(`Run ${id} is taken from a worker that has not renewed its lease.`);
    await this.interactions.expire();
    await this.pauses.wake();
    // Not awaited: its loop may go on for as long as notices come, and recovery is due each second.
    void this.executor.claimWaiting();
  }
}
