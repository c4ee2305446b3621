import { existsSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import type { AgentOutcome } from '../../engine/agent/agent-engine.js';
import type { InputRepository } from '../../engine/agent/input-repository.js';
import { RepositoryError } from '../../engine/repositories/repository-error.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import { JobQueue } from '../../platform/jobs/job-queue.js';
import { type BuildJob, BUILDS } from '../../resources/environments/build-job.js';
import { Machine } from '../machines/machine.js';
import { type ActiveRun, FencedError } from '../runs/claimed-run.js';
import { FencedWrites } from '../runs/fenced-writes.js';
import { TOLD } from '../runs/run-push.sql.js';
import { BuildKeys, driverOf } from './build-keys.js';
import type { ReadyBuild } from './build-store.js';
import type { EnvironmentOfTask } from '../runs/run-loader.sql.js';
import { BEGIN, BEGINS_FROM, BUILDS_OF, type FoundBuild, WAIT_FOR } from './builds.sql.js';

/** What the folders of a task begin as. `waits`: the run is put aside until a build has ended. */
export type Begun = { build: ReadyBuild | null } | { waits: true } | { failed: AgentOutcome };

/** What of a run has to be known. */
interface Beginning {
  /** That its task works in; null: none. */
  environment: EnvironmentOfTask | null;
  /** The manifest of its last snapshot; null: it has none. */
  snapshot: string | null;
  repository: InputRepository | null;
  stopping: AbortSignal;
}

/** By what a build is found. */
interface Wanted {
  environmentId: string;
  version: number;
  key: string;
  driver: string;
}

const NONE: Begun = { build: null };
/** How often a build may end just when a run is about to wait for it. */
const MAX_LOOKS = 20;

/** Finds the build that a task begins from, or has one made (docs/decisions/0098). */
@Injectable()
export class RunEnvironment {
  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly keys: BuildKeys,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly writes: FencedWrites,
    private readonly jobs: JobQueue,
    private readonly machine: Machine,
  ) {}

  /** A task that has folders, or a snapshot of them, goes on in those. Throws {@link FencedError}, and the reason of the signal. */
  async begin(held: ActiveRun, of: Beginning): Promise<Begun> {
    const { environment } = of;
    if (environment === null || !needsBuild(environment)) return NONE;
    if (of.snapshot !== null || (await this.hasFolders(held))) return NONE;
    const found = await this.keyOf(held, environment, of);
    if (found === null) return NONE;
    const { id: environmentId, version } = environment;
    const wanted = { environmentId, version, key: found.key, driver: driverOf(this.sandboxes) };
    for (let look = 0; look < MAX_LOOKS; look++) {
      const begun = await this.look(held, environment, wanted, found.commit);
      if (begun !== null) return begun;
    }
    throw new FencedError(held.run);
  }

  /** Null: another look is needed. */
  private async look(
    held: ActiveRun,
    environment: EnvironmentOfTask,
    wanted: Wanted,
    commit: string | null,
  ): Promise<Begun | null> {
    const [builds] = await this.database.work.run(BUILDS_OF({ run: held.run, ...wanted }));
    if (builds === undefined) throw new FencedError(held.run);
    const { own, current, failed, good } = builds;
    const decided = own ?? current ?? failed;
    if (decided === null) {
      await this.start(held, wanted, commit);
      return null;
    }
    if (decided.state === 'failed') return this.afterFailure(held, environment, decided, good);
    if (decided.state === 'building') return (await this.waits(held, environment, decided)) ? { waits: true } : null;
    await this.writes.fenced(held, BEGINS_FROM({ run: held.run, buildId: decided.id }));
    return { build: ready(decided) };
  }

  private async start(held: ActiveRun, wanted: Wanted, commit: string | null): Promise<void> {
    const { workspaceId } = held.run;
    const buildId = newId();
    await this.transactions.open(async (tx) => {
      const made = await tx.run(BEGIN({ buildId, workspaceId, ...wanted }));
      const job: BuildJob = { buildId, commit };
      if (made.length > 0) await this.jobs.add(tx, BUILDS, job, { key: buildId, workspaceId });
    });
  }

  /** False: the build has ended, or the run is not ours. */
  private async waits(held: ActiveRun, { slug }: EnvironmentOfTask, build: FoundBuild): Promise<boolean> {
    const reason = {
      code: 'environment_building',
      message: `Version ${build.version} of the environment '${slug}' is being built.`,
      retryable: true,
    };
    const rows = await this.writes.tried(held, WAIT_FOR({ run: held.run, buildId: build.id, reason }));
    if (rows !== undefined) this.writes.tell(held);
    return rows !== undefined;
  }

  private async afterFailure(
    held: ActiveRun,
    { definition, slug }: EnvironmentOfTask,
    failed: FoundBuild,
    good: FoundBuild | null,
  ): Promise<Begun> {
    const last = definition.onFailure === 'lastGood' ? good : null;
    // The next turn has it built anew.
    await this.writes.fenced(held, BEGINS_FROM({ run: held.run, buildId: last?.id ?? null }));
    const why = `The build of the environment '${slug}' failed: ${failed.error ?? 'its worker was lost'}`;
    if (last === null) {
      const message = `${why} GET /v1/environments/${slug}/builds has the end of its output.`;
      return { failed: { type: 'failed', code: 'environment_failed', message, retryable: true } };
    }
    const { version, finishedAt } = last;
    const message = `${why} The task begins from the last good build, of version ${version}.`;
    const data = { code: 'last_good', message, environment: slug, version, builtAt: finishedAt };
    const parts = [{ type: 'data' as const, name: 'environment', id: newId(), data }];
    await this.writes.fenced(held, TOLD({ run: held.run, messageId: newId(), parts }));
    return { build: ready(last) };
  }

  private async hasFolders({ run }: ActiveRun): Promise<boolean> {
    const folders = await this.sandboxes.current.folders(run.taskId);
    // Folders that lie on no machine come from no build.
    if (folders === null) return true;
    return !this.machine.lacks(run) && existsSync(folders['workdir'] ?? '');
  }

  /** Null: the repository is away, which the engine tells when it wants it. */
  private async keyOf(
    { run, signal }: ActiveRun,
    { definition, repositoryUrl }: EnvironmentOfTask,
    { repository, stopping }: Beginning,
  ): Promise<{ key: string; commit: string | null } | null> {
    const plain = this.keys.plain(definition);
    if (plain !== null) return { key: plain, commit: null };
    // A task of another repository has the environment as it is at the commit that this names itself.
    if (repository === null || repositoryUrl !== definition.repository?.url) return { key: '', commit: null };
    try {
      const commit = await repository.clone(stopping);
      return { key: await this.keys.ofClone(run.taskId, commit, definition, signal), commit };
    } catch (error) {
      signal.throwIfAborted();
      stopping.throwIfAborted();
      if (error instanceof RepositoryError) return null;
      throw error;
    }
  }
}

/** One that only names hosts, variables or secrets has nothing to build. */
function needsBuild({ definition }: EnvironmentOfTask): boolean {
  return definition.setup.length > 0 || definition.repository !== null;
}

function ready({ id, manifest, bytes }: FoundBuild): ReadyBuild {
  return { id, manifest: manifest ?? '', bytes };
}
