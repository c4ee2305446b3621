// Runs: who holds them, what drives them, who writes about them. Only in processes that work.
import { Process, Processor } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Job } from 'bull';
import { AgentModule } from '../../engine/agent/agent.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import type { Env } from '../../platform/config/env.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { SandboxModule } from '../../engine/sandbox/sandbox.module.js';
import { BULL_QUEUES } from '../../platform/notices/bull-queues.js';
import { Notices, type Work } from '../../platform/notices/notices.js';
import { TasksModule } from '../../resources/tasks/tasks.module.js';
import { FencedWrites } from './fenced-writes.js';
import { AbandonedRuns } from './abandoned-runs.js';
import { PublishedFiles } from './published-files.js';
import { RunLeases } from './run-leases.js';
import { Reconciler } from './reconciler.js';
import { RunClaims } from './run-claims.js';
import { RunDriver } from './run-driver.js';
import { RunExecutor } from './run-executor.js';
import { RunLoader } from './run-loader.js';
import { RunRecorder } from './run-recorder.js';
import { TaskFolders } from './task-folders.js';

/** Claims the run that a job names. The job ends as soon as the run is claimed, so nothing about the run depends on Bull. */
@Processor(BULL_QUEUES.runs)
class RunProcessor {
  constructor(
    private readonly executor: RunExecutor,
    private readonly notices: Notices,
  ) {}

  /**
   * Bull gives a job to any worker. A worker that has no open place, or stops, passes on what it does not take by a notice: without
   * it the others would find the run at their next look, up to a second later.
   */
  @Process({ concurrency: 4 })
  async bring({ data }: Job<Work>): Promise<void> {
    const open = this.executor.open > 0;
    if (!(await this.executor.execute(data.id)) && !open) this.notices.passOn({ work: data });
  }
}

@Module({})
export class RunsModule {
  static with(env: Env): DynamicModule {
    const processors = env.variables.REDIS_URL === undefined ? [] : [RunProcessor];
    return {
      module: RunsModule,
      imports: [AgentModule, FilesModule, ModelsModule, RepositoriesModule, SandboxModule, TasksModule],
      providers: [
        AbandonedRuns,
        FencedWrites,
        PublishedFiles,
        RunClaims,
        RunLeases,
        RunLoader,
        RunRecorder,
        RunDriver,
        RunExecutor,
        TaskFolders,
        Reconciler,
        ...processors,
      ],
    };
  }
}
