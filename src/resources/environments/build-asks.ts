import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { JobQueue } from '../../platform/jobs/job-queue.js';
import { ASK, type AskedBuild, FORGET_TRIAL, LAST_READY, TRIED, TRY, UNDER_WAY } from './build-asks.sql.js';
import { type BuildJob, BUILDS, type TrialJob, TRIALS } from './build-job.js';
import { EnvironmentsService, requireWriter } from './environments.service.js';
import type { TrialResult } from './environment-trial.entity.js';

/** Until a worker has tried a command, which itself may take a minute. Milliseconds. */
const [PATIENCE_MS, LOOK_MS] = [110_000, 200];

/** What clients ask of the builds of an environment (reference §25). */
@Injectable()
export class BuildAsks {
  constructor(
    private readonly environments: EnvironmentsService,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly jobs: JobQueue,
  ) {}

  /** Has the newest version built now; one that is being made already is that one. Throws 404, and 403 `role_not_allowed`. */
  async build(auth: AuthContext, tx: UnitOfWork, slug: string): Promise<AskedBuild> {
    const { id: environmentId, version } = await this.environments.get(auth, slug);
    requireWriter(auth);
    const [current] = await tx.run(UNDER_WAY({ environmentId, version }));
    if (current !== undefined) return current;
    const id = newId();
    const [asked] = await tx.run(ASK({ auth, id, environmentId, version }));
    if (asked === undefined) throw new Error('The build was not inserted.');
    const job: BuildJob = { buildId: id, commit: null };
    await this.jobs.add(tx, BUILDS, job, { key: id, workspaceId: auth.workspaceId });
    return asked;
  }

  /**
   * Tries a command in a copy of the last build of the newest version, and waits for its end. Throws 404, 403 `role_not_allowed`, 409
   * `environment_not_built`, and 503 when no worker has come to it.
   */
  async test(auth: AuthContext, slug: string, command: string): Promise<Exclude<TrialResult, { failed: string }>> {
    const { id: environmentId, version } = await this.environments.get(auth, slug);
    requireWriter(auth);
    const [build] = await this.database.read.run(LAST_READY({ environmentId, version }));
    if (build === undefined) {
      throw new ApiError(
        'environment_not_built',
        `Version ${version} of the environment has no build; have it built first.`,
      );
    }
    const id = newId();
    await this.transactions.open(async (tx) => {
      await tx.run(TRY({ auth, id, buildId: build.id, command }));
      const job: TrialJob = { trialId: id };
      await this.jobs.add(tx, TRIALS, job, { key: id, workspaceId: auth.workspaceId });
    });
    const result = await this.result(id).finally(() => this.transactions.run(FORGET_TRIAL({ id })));
    if ('failed' in result) throw new ApiError('unavailable', result.failed);
    return result;
  }

  private async result(id: string): Promise<TrialResult> {
    for (const last = performance.now() + PATIENCE_MS; performance.now() < last; await wait(LOOK_MS)) {
      const [trial] = await this.database.read.run(TRIED({ id }));
      if (trial?.result != null) return trial.result;
    }
    return { failed: 'No worker has tried the command in time; try again later.' };
  }
}
