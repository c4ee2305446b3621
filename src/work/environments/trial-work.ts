import { Injectable, Logger } from '@nestjs/common';
import { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import type { RunResult } from '../../engine/sandbox/run-result.js';
import { SandboxBusyError, SandboxError, type SandboxSecrets } from '../../engine/sandbox/sandbox.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { type Job, JobHandler, JobWork } from '../../platform/jobs/job-handler.js';
import { FORGET_TRIALS, RECORD_TRIAL } from '../../resources/environments/build-asks.sql.js';
import { type TrialJob, TRIALS } from '../../resources/environments/build-job.js';
import { folderOf } from '../../resources/environments/definition.js';
import type { TrialResult } from '../../resources/environments/environment-trial.entity.js';
import { BuildMaker } from './build-maker.js';
import { BuildSecrets } from './build-secrets.js';
import { BuildStore } from './build-store.js';
import { TO_TRY, type Trial } from './builds.sql.js';

/** For how long a trial is a process's own without a sign of life. Seconds. */
const LEASE_SECONDS = 30;
/** Of a command that is tried. Seconds. */
const LIMIT_SECONDS = 60;

/** Tries commands in throwaway copies of builds: the client that asked waits for each. */
@JobHandler(TRIALS, { concurrency: 4, leaseSeconds: LEASE_SECONDS, attempts: 3 })
@Injectable()
export class TrialWork extends JobWork<TrialJob> {
  override readonly heartbeat = new Heartbeat(LEASE_SECONDS);
  private readonly logger = new Logger('Builds');

  constructor(
    private readonly database: Database,
    private readonly sandboxes: SandboxSelector,
    private readonly maker: BuildMaker,
    private readonly store: BuildStore,
    private readonly secrets: BuildSecrets,
  ) {
    super();
  }

  /** A client that has gone away has taken its row along: then nothing is done. */
  async handle({ data: { trialId } }: Job<TrialJob>, signal: AbortSignal): Promise<void> {
    const [trial] = await this.database.work.run(TO_TRY({ trialId }));
    if (trial === undefined) return this.sandboxes.current.remove(trialId);
    try {
      const result = await this.attempt(trial, signal);
      await this.database.work.run(RECORD_TRIAL({ id: trialId, result }));
    } finally {
      await this.sandboxes.current.remove(trialId);
    }
  }

  @Chore({ every: 5 * 60_000 })
  async forget(): Promise<void> {
    await this.database.polling.run(FORGET_TRIALS());
  }

  private async attempt(trial: Trial, signal: AbortSignal): Promise<TrialResult> {
    const { id, workspaceId, build } = trial;
    await this.sandboxes.current.remove(id);
    const held = { run: { workspaceId }, signal };
    await this.sandboxes.current.restore(id, ({ workdir = '', home = '' }, owner) =>
      this.store.fill(held, build, { workdir, home }, owner),
    );
    const secrets = this.secrets.of(trial);
    try {
      return await this.tried(trial, (await secrets.open()) ?? undefined, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SandboxError) || error instanceof SandboxBusyError) throw error;
      const msg = `Trial ${id} in the environment ${trial.slug} failed: the sandbox does not work.`;
      this.logger.warn({ workspaceId, msg, err: error });
      return { failed: 'The sandbox of this service does not work at the moment; its log says why.' };
    } finally {
      await this.secrets.record({ ...trial, buildId: build.id }, secrets);
    }
  }

  private async tried(
    trial: Trial,
    secrets: SandboxSecrets | undefined,
    signal: AbortSignal,
  ): Promise<Pick<RunResult, 'exitCode' | 'stdout' | 'stderr'>> {
    const session = await this.maker.open(trial, { secrets, heartbeat: this.heartbeat, signal });
    try {
      const how = { network: true, prepared: true, timeoutSeconds: LIMIT_SECONDS, cwd: folderOf(trial.definition) };
      const { exitCode, stdout, stderr } = await session.run(trial.command, how);
      return { exitCode, stdout, stderr };
    } finally {
      await session.close();
    }
  }
}
