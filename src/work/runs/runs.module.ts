// Runs: who holds them, what drives them, who writes about them. Only in processes that work.
import { Process, Processor } from '@nestjs/bull';
import { type DynamicModule, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { Job } from 'bull';
import { AgentModule } from '../../engine/agent/agent.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import type { Env } from '../../platform/config/env.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { SandboxModule } from '../../engine/sandbox/sandbox.module.js';
import { BULL_QUEUES } from '../../platform/signals/bull-signal.js';
import { LocalSignal } from '../../platform/signals/local-signal.js';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import { type Ring, RUNS } from '../../platform/signals/work-signal.js';
import { TasksModule } from '../../resources/tasks/tasks.module.js';
import { AbandonedRuns } from './abandoned-runs.js';
import { PublishedFiles } from './published-files.js';
import { RunLeases } from './run-leases.js';
import { Reconciler } from './reconciler.js';
import { RunClaims } from './run-claims.js';
import { RunDriver } from './run-driver.js';
import { RunExecutor } from './run-executor.js';
import { RunLoader } from './run-loader.js';
import { RunRecorder } from './run-recorder.js';
import { WorkdirCleaner } from './workdir-cleaner.js';

/** Without Redis the signal calls the executor itself. */
@Injectable()
class LocalWork implements OnModuleInit {
  constructor(
    private readonly executor: RunExecutor,
    private readonly signal: LocalSignal,
  ) {}

  onModuleInit(): void {
    this.signal.onRing(({ kind, id }) => kind === RUNS && void this.executor.execute(id));
  }
}

/** Claims the run that a job names. The job ends as soon as the run is claimed, so nothing about the run depends on Bull. */
@Processor(BULL_QUEUES.runs)
class RunProcessor {
  constructor(
    private readonly executor: RunExecutor,
    private readonly channel: PgChannel,
  ) {}

  /**
   * Bull gives a job to any worker. A worker that has no open place, or stops, passes on what it does not take by a notice: without
   * it the others would find the run at their next look, up to a second later.
   */
  @Process({ concurrency: 4 })
  async ring({ data }: Job<Ring>): Promise<void> {
    const open = this.executor.open > 0;
    if (!(await this.executor.execute(data.id)) && !open) this.channel.send({ work: data });
  }
}

@Module({})
export class RunsModule {
  static with(env: Env): DynamicModule {
    const doorbell = env.variables.REDIS_URL === undefined ? LocalWork : RunProcessor;
    return {
      module: RunsModule,
      imports: [AgentModule, FilesModule, ModelsModule, RepositoriesModule, SandboxModule, TasksModule],
      providers: [
        AbandonedRuns,
        PublishedFiles,
        RunClaims,
        RunLeases,
        RunLoader,
        RunRecorder,
        RunDriver,
        RunExecutor,
        WorkdirCleaner,
        Reconciler,
        doorbell,
      ],
    };
  }
}
