// Runs: who holds them, what drives them, who writes about them. Only in processes that work.
import { Process, Processor } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Job } from 'bull';
import { AgentModule } from '../../engine/agent/agent.module.js';
import { EnginesModule } from '../../engine/engines/engines.module.js';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import type { Env } from '../../platform/config/env.js';
import { FilesModule } from '../../resources/files/files.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { SandboxModule } from '../../engine/sandbox/sandbox.module.js';
import { BULL_QUEUES } from '../../platform/notices/bull-queues.js';
import { Notices, type Work } from '../../platform/notices/notices.js';
import { TasksModule } from '../../resources/tasks/tasks.module.js';
import { Machine } from '../machines/machine.js';
import { MachinesModule } from '../machines/machines.module.js';
import { FencedWrites } from './fenced-writes.js';
import { AbandonedRuns } from './abandoned-runs.js';
import { PublishedFiles } from './published-files.js';
import { BuildCleaner } from '../environments/build-cleaner.js';
import { BuildKeys } from '../environments/build-keys.js';
import { BuildMaker } from '../environments/build-maker.js';
import { BuildSecrets } from '../environments/build-secrets.js';
import { BuildStore } from '../environments/build-store.js';
import { BuildWork } from '../environments/build-work.js';
import { PreparedFolders } from '../environments/prepared-folders.js';
import { RunEnvironment } from '../environments/run-environment.js';
import { TrialWork } from '../environments/trial-work.js';
import { RunLeases } from './run-leases.js';
import { Reconciler } from './reconciler.js';
import { ProofsModule } from '../../resources/proofs/proofs.module.js';
import { RunChildren } from './run-children.js';
import { RunChecking } from './run-checking.js';
import { RunChecks } from './run-checks.js';
import { CheckRunner } from '../../engine/checks/check-runner.js';
import { RunClaims } from './run-claims.js';
import { RunDriver } from './run-driver.js';
import { RunExecutor } from './run-executor.js';
import { RunMcp } from './run-mcp.js';
import { RunLoader } from './run-loader.js';
import { RunNetwork } from './run-network.js';
import { RunRecorder } from './run-recorder.js';
import { RunRestore } from './run-restore.js';
import { RunSecrets } from './run-secrets.js';
import { RunStops } from './run-stops.js';
import { RunSnapshots } from './run-snapshots.js';
import { SnapshotTurns } from './snapshot-turns.js';
import { SecretsModule } from '../../resources/secrets/secrets.module.js';
import { SnapshotsModule } from '../../resources/snapshots/snapshots.module.js';
import { TaskFolders } from './task-folders.js';

/** Claims the run that a job names. The job ends as soon as the run is claimed, so nothing about the run depends on Bull. */
@Processor(BULL_QUEUES.runs)
class RunProcessor {
  constructor(
    private readonly executor: RunExecutor,
    private readonly claims: RunClaims,
    private readonly notices: Notices,
    private readonly machine: Machine,
  ) {}

  /**
   * Bull gives a job to any worker. One that has no open place, stops, or leaves the run to another machine, passes it on by a notice. The others would find the run
   * at their next look, up to a second later. What another has claimed is told to nobody: of ten workers each tried it, and lost.
   */
  @Process({ concurrency: 4 })
  async bring({ data }: Job<Work>): Promise<void> {
    const open = this.executor.open > 0;
    if (await this.executor.execute(data.id)) return;
    const left = async () => this.machine.several && (await this.claims.isLeft(data.id).catch(() => true));
    if (!open || (await left())) this.notices.passOn({ work: data });
  }
}

@Module({})
export class RunsModule {
  static with(env: Env): DynamicModule {
    const processors = env.variables.REDIS_URL === undefined ? [] : [RunProcessor];
    return {
      module: RunsModule,
      imports: [
        AgentModule,
        EnginesModule,
        FilesModule,
        MachinesModule,
        McpModule,
        ModelsModule,
        ProofsModule,
        RepositoriesModule,
        SandboxModule,
        SecretsModule,
        SnapshotsModule,
        TasksModule,
      ],
      providers: [
        AbandonedRuns,
        BuildCleaner,
        BuildKeys,
        BuildMaker,
        BuildSecrets,
        BuildStore,
        BuildWork,
        CheckRunner,
        RunChecking,
        FencedWrites,
        PreparedFolders,
        RunEnvironment,
        PublishedFiles,
        RunClaims,
        RunLeases,
        RunLoader,
        RunMcp,
        RunNetwork,
        RunChecks,
        RunChildren,
        RunRecorder,
        RunDriver,
        RunExecutor,
        RunRestore,
        RunSecrets,
        RunSnapshots,
        RunStops,
        SnapshotTurns,
        TaskFolders,
        TrialWork,
        Reconciler,
        ...processors,
      ],
    };
  }
}
