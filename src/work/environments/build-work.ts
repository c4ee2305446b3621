import { Injectable, Logger } from '@nestjs/common';
import { RepositoryError } from '../../engine/repositories/repository-error.js';
import { SandboxBusyError, SandboxError } from '../../engine/sandbox/sandbox.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { TooManyFilesError } from '../../engine/snapshots/snapshots.js';
import { Database } from '../../platform/database/database.js';
import { type Job, JobHandler, JobWork } from '../../platform/jobs/job-handler.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { type BuildJob, BUILDS } from '../../resources/environments/build-job.js';
import { TaskPause } from '../../resources/tasks/task-pause.js';
import { Machine } from '../machines/machine.js';
import { BuildKeys, driverOf } from './build-keys.js';
import { BuildLog } from './build-log.js';
import { BuildError, BuildMaker } from './build-maker.js';
import { BuildSecrets } from './build-secrets.js';
import { BuildStore } from './build-store.js';
import { type BuildToMake, FAILED, TAKE, TICK, TO_MAKE } from './builds.sql.js';

/** For how long a build is a process's own without a sign of life. A worker that was killed is replaced after that. Seconds. */
const LEASE_SECONDS = 20;
/** What its commands write is on record so often. Milliseconds. */
const TICK_MS = 1_000;

/** The attempt that makes a build. */
interface Attempt {
  build: BuildToMake;
  key: string;
  log: BuildLog;
  signal: AbortSignal;
  /** By which the statements tell that the build is still ours. */
  fence: { buildId: string; jobId: string; attempt: number };
}

/** Makes builds (docs/decisions/0098). What a killed worker has left of one goes, and it is made anew. */
@JobHandler(BUILDS, { concurrency: 2, leaseSeconds: LEASE_SECONDS, attempts: 5 })
@Injectable()
export class BuildWork extends JobWork<BuildJob> {
  private readonly logger = new Logger('Builds');

  constructor(
    private readonly database: Database,
    private readonly maker: BuildMaker,
    private readonly store: BuildStore,
    private readonly keys: BuildKeys,
    private readonly secrets: BuildSecrets,
    private readonly sandboxes: SandboxSelector,
    private readonly pauses: TaskPause,
    private readonly machine: Machine,
    private readonly metrics: Metrics,
  ) {
    super();
  }

  /** Those that wait for it wake when its end is on record. What a setup cannot do is an end; what the service cannot do is another attempt. */
  async handle({ id, data, attempt }: Job<BuildJob>, signal: AbortSignal): Promise<void> {
    const { buildId, commit } = data;
    const [build] = await this.database.work.run(TO_MAKE({ buildId }));
    if (build === undefined) {
      await this.maker.remove(buildId);
      return this.pauses.wakeAfterBuild(buildId);
    }
    const log = new BuildLog();
    const fence = { buildId, jobId: id, attempt };
    const began = performance.now();
    let outcome = 'failed';
    try {
      await this.maker.remove(buildId);
      const key = await this.keys.ofBuild(build, commit, signal);
      await this.take({ build, key, log, signal, fence });
      await this.make({ build, key, log, signal, fence }, commit);
      outcome = 'ready';
    } catch (error) {
      signal.throwIfAborted();
      const why = reasonOf(error);
      if (why === null) throw error;
      this.logger.warn({ workspaceId: build.workspaceId, msg: `Build ${buildId} of ${build.slug} failed: ${why}` });
      await this.database.work.run(FAILED({ ...fence, error: why.slice(0, 2_000), log: log.text }));
    } finally {
      // A folder that could not be removed goes with the next look for needless ones.
      await this.maker.remove(buildId).catch(() => undefined);
    }
    this.metrics.environmentBuilds.inc({ outcome });
    this.metrics.environmentBuildSeconds.observe((performance.now() - began) / 1000);
    await this.pauses.wakeAfterBuild(buildId);
  }

  private async take({ key, fence }: Attempt): Promise<void> {
    const about = { ...fence, key, driver: driverOf(this.sandboxes), machineId: this.machine.id };
    const taken = await this.database.work.run(TAKE({ ...about, leaseSeconds: LEASE_SECONDS }));
    if (taken.length === 0) throw new Error(`Build ${fence.buildId} is made by another attempt.`);
  }

  private async make({ build, key, log, signal, fence }: Attempt, commit: string | null): Promise<void> {
    const ours = new AbortController();
    const within = AbortSignal.any([signal, ours.signal]);
    const secrets = this.secrets.of(build);
    const using = { ...build, buildId: build.id };
    const tick = async () => {
      await secrets.refresh().catch(() => undefined);
      await this.secrets.record(using, secrets);
      const rows = await this.database.polling.run(TICK({ ...fence, log: log.text, leaseSeconds: LEASE_SECONDS }));
      if (rows.length === 0) ours.abort(new Error(`Build ${build.id} is not made any more.`));
    };
    let ticking = Promise.resolve();
    const timer = setInterval(() => {
      // One that does not come through is made up for by the next one.
      ticking = ticking.then(tick).catch(() => undefined);
    }, TICK_MS);
    try {
      await this.maker.make(build, commit, (await secrets.open()) ?? undefined, log, within);
    } finally {
      clearInterval(timer);
      await ticking;
      await this.secrets.record(using, secrets);
    }
    await this.store.keep({ build, key, driver: driverOf(this.sandboxes), log: log.text, fence }, within);
  }
}

/** Why there is no build, for people; null: not for a reason of its environment. */
function reasonOf(error: unknown): string | null {
  if (error instanceof BuildError || error instanceof RepositoryError) return error.message;
  if (error instanceof TooManyFilesError) return 'A build has at most about 500,000 files.';
  if (error instanceof SandboxError && !(error instanceof SandboxBusyError))
    return 'The sandbox of this service does not work at the moment; its log says why.';
  return null;
}
