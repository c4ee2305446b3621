import { existsSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env } from '../../platform/config/env.js';
import { newId } from '../../platform/database/ids.js';
import type { InputFile } from '../agent/agent-engine.js';
import type { CheckedWork } from '../agent/input-checks.js';
import type { InputRepository, LaidIn } from '../agent/input-repository.js';
import { RepositoryError } from '../repositories/repository-error.js';
import type { RunResult } from '../sandbox/run-result.js';
import { SandboxError, type SandboxSession } from '../sandbox/sandbox.js';
import type { SharedFile } from '../sandbox/shared-files.js';
import { SandboxSelector } from '../sandbox/sandbox-selector.js';
import { checkFolderOf } from '../sandbox/workdir/workdirs.js';
import type { SessionEnvironment } from '../sandbox/session-environment.js';
import { type CarriedOut, type Check, CheckError, type CheckResult, type CheckStatus } from './check.js';
import { CheckOutput } from './check-output.js';
import { copyWorkdir, putBack } from './copied-workdir.js';
import { workdirDigest } from './workdir-digest.js';
import { listingOf } from './workdir-listing.js';
import { type Protects, protects, told } from './protection.js';

/** Fills the folders that a check begins with, as {@link Sandbox.restore} has it. */
type Fill = (folders: Record<string, string>, owner: number | null) => Promise<void>;

/** The task of a check. */
export interface CheckedTask {
  taskId: string;
  /** Whether its commands may have the network that the operator allows. */
  network: boolean;
  environment: SessionEnvironment | undefined;
  project: SharedFile[];
  /** As they were stored, at their places in the workdir. */
  files: InputFile[];
  repository: InputRepository | null;
  /** Fills the folders as the build of its environment has them; null: it has none. */
  prepare: Fill | null;
}

/** Carries out checks, each in folders of its own that the agent never had (docs/decisions/0101). */
@Injectable()
export class CheckRunner {
  private readonly logger = new Logger('Checks');

  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly dataDir: DataDir,
    private readonly env: Env,
  ) {}

  /** Rejects with the reason of the signal. What cannot be carried out is a result, `error`. */
  async run(task: CheckedTask, check: Check, work: CheckedWork): Promise<CarriedOut> {
    const began = performance.now();
    const output = new CheckOutput(this.dataDir.path, this.env.variables.MAX_UPLOAD_BYTES);
    let found: Found;
    try {
      found = await this.inFreshFolders(task, check, work, output);
    } catch (error) {
      if (work.signal.aborted) await output.discard();
      work.signal.throwIfAborted();
      this.logger.warn({ taskId: task.taskId, msg: `The check ${check.name} of task ${task.taskId} was not carried out: ${withCause(error)}` }); // prettier-ignore
      found = { status: 'error', exitCode: null, protectedChanged: [], workdirSha256: null, patchSha256: null };
      void output.add(Buffer.from(`${reasonOf(error)}\n`));
    }
    const { timeoutSeconds: _limit, ...ran } = check;
    const durationMs = Math.round(performance.now() - began);
    const { whole, ...written } = await output.end();
    return { result: { id: newId(), ...ran, durationMs, ...found, ...written, original: null }, whole };
  }

  private async inFreshFolders(
    task: CheckedTask,
    check: Check,
    work: CheckedWork,
    output: CheckOutput,
  ): Promise<Found> {
    const { signal, passOn } = work;
    const id = checkFolderOf(task.taskId, work.lane);
    const sandbox = this.sandboxes.current;
    // A worker that was killed has left it.
    await sandbox.remove(id);
    try {
      await this.begin(task, id, work);
      const { project, environment, network } = task;
      const session = await this.sandboxes.open({ taskId: id, project, environment, network, signal });
      try {
        const listed = task.repository === null && work.digest;
        const workdirSha256 = listed ? workdirDigest(await listingOf(session)) : null;
        const { changed, patchSha256 } = await this.layIn(task, check, work, session);
        const protectedChanged = work.phase === 'before' ? [] : told(changed);
        const { timeoutSeconds, command } = check;
        const result = await session.run(command, {
          cwd: task.repository === null ? '.' : 'repo',
          network: check.network,
          prepared: true,
          timeoutSeconds: Math.min(timeoutSeconds, work.secondsLeft ?? timeoutSeconds),
          keep: { first: 0, last: 0 },
          onOutput: (stream, chunk) => {
            passOn(stream, chunk);
            return output.add(chunk);
          },
          // Of all that it writes the end is kept.
          keepsOutput: () => true,
        });
        if (result.killed !== null) void output.add(Buffer.from(`\n${inWords(result.killed)}\n`));
        return { ...verdictOf(result), protectedChanged, workdirSha256, patchSha256 };
      } finally {
        await session.close();
      }
    } finally {
      // What cannot be removed now goes when the next one begins, or with the task.
      await sandbox.remove(id).catch(() => undefined);
    }
  }

  /** Without a repository a check begins with the workdir of the task, and one `before` with nothing. */
  private async begin({ taskId, prepare, repository }: CheckedTask, id: string, work: CheckedWork): Promise<void> {
    const copies = repository === null && work.phase === 'after';
    if (!copies && prepare === null) return;
    const folders = await this.sandboxes.current.folders(taskId);
    if (folders === null) throw new CheckError('The sandbox of this service keeps no folders, so it has no checks.');
    const from = folders['workdir'] ?? '';
    await this.sandboxes.current.restore(id, async (to, owner) => {
      await prepare?.(to, owner);
      if (copies && existsSync(from)) await copyWorkdir(from, to['workdir'] ?? '', owner, work.signal);
    });
  }

  private async layIn(task: CheckedTask, check: Check, work: CheckedWork, session: SandboxSession): Promise<LaidIn> {
    const isProtected = protects(check.protect);
    if (task.repository !== null) return task.repository.layFresh(session, work.changes, isProtected);
    const changed = await putBack(session, task.files, work.phase === 'before' ? allOfThem : isProtected);
    return { changed, patchSha256: null };
  }
}

/** On the original the files are as they were stored. */
const allOfThem: Protects = (paths) => Promise.resolve(new Set(paths));

type Found = Pick<CheckResult, 'status' | 'exitCode' | 'protectedChanged' | 'workdirSha256' | 'patchSha256'>;

function verdictOf({ exitCode, killed }: RunResult): { status: CheckStatus; exitCode: number | null } {
  if (killed === 'timeout') return { status: 'timed_out', exitCode: null };
  if (killed !== null) return { status: 'failed', exitCode: null };
  return { status: exitCode === 0 ? 'passed' : 'failed', exitCode };
}

function inWords(killed: NonNullable<RunResult['killed']>): string {
  const why = { timeout: 'it took too long', memory: 'it needed more memory than there is', disk: 'it needed more disk than there is', output: 'it wrote too much' }; // prettier-ignore
  return `The check was ended: ${why[killed]}.`;
}

/** For the log. */
function withCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` ${error.cause.message}` : '';
  return `${String(error)}${cause}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof CheckError || error instanceof RepositoryError) return error.message;
  if (error instanceof SandboxError) return 'The sandbox of this service does not work at the moment.';
  return 'The check could not be carried out; the log of the service says why.';
}
