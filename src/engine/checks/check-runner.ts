import { existsSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { newId } from '../../platform/database/ids.js';
import type { InputFile } from '../agent/agent-engine.js';
import type { CheckedWork } from '../agent/input-checks.js';
import type { InputRepository } from '../agent/input-repository.js';
import { RepositoryError } from '../repositories/repository-error.js';
import { type RunResult, SandboxError, type SandboxSession, type SharedFile } from '../sandbox/sandbox.js';
import { SandboxSelector } from '../sandbox/sandbox-selector.js';
import { checkFolderOf } from '../sandbox/workdir/workdirs.js';
import type { SessionEnvironment } from '../sandbox/session-environment.js';
import { type Check, CheckError, type CheckResult, type CheckStatus } from './check.js';
import { copyWorkdir, putBack } from './copied-workdir.js';
import { OutputTail } from './output-tail.js';
import { workdirDigest } from './workdir-digest.js';
import { listingOf } from './workdir-listing.js';
import { protects, told } from './protection.js';

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

  constructor(private readonly sandboxes: SandboxSelector) {}

  /** Rejects with the reason of the signal. What cannot be carried out is a result, `error`. */
  async run(task: CheckedTask, check: Check, work: CheckedWork): Promise<CheckResult> {
    const began = performance.now();
    const output = new OutputTail();
    let found: Found;
    try {
      found = await this.inFreshFolders(task, check, work, output);
    } catch (error) {
      work.signal.throwIfAborted();
      this.logger.warn({ taskId: task.taskId, msg: `The check ${check.name} of task ${task.taskId} was not carried out: ${withCause(error)}` }); // prettier-ignore
      found = { status: 'error', exitCode: null, protectedChanged: [], workdirSha256: null };
      output.add(1, Buffer.from(`${reasonOf(error)}\n`));
    }
    const { timeoutSeconds: _limit, ...ran } = check;
    const durationMs = Math.round(performance.now() - began);
    return { id: newId(), ...ran, durationMs, ...found, ...output.end() };
  }

  /** What lies on this host of a task's checks. Succeeds when nothing does. */
  remove(taskId: string): Promise<void> {
    return this.sandboxes.current.remove(checkFolderOf(taskId));
  }

  private async inFreshFolders(task: CheckedTask, check: Check, work: CheckedWork, output: OutputTail): Promise<Found> {
    const { signal } = work;
    const id = checkFolderOf(task.taskId);
    await this.remove(task.taskId);
    try {
      await this.begin(task, id, signal);
      const { project, environment, network } = task;
      const session = await this.sandboxes.open({ taskId: id, project, environment, network, signal });
      try {
        const listed = task.repository === null && work.digest;
        const workdirSha256 = listed ? workdirDigest(await listingOf(session)) : null;
        const protectedChanged = told(await this.layIn(task, check, work, session));
        const { timeoutSeconds, command } = check;
        const result = await session.run(command, {
          cwd: task.repository === null ? '.' : 'repo',
          network: check.network,
          prepared: true,
          timeoutSeconds: Math.min(timeoutSeconds, work.secondsLeft ?? timeoutSeconds),
          keep: { first: 0, last: 0 },
          onOutput: output.add,
          // Of all that it writes the end is kept.
          keepsOutput: () => true,
        });
        if (result.killed !== null) output.add(1, Buffer.from(`\n${inWords(result.killed)}\n`));
        return { ...verdictOf(result), protectedChanged, workdirSha256 };
      } finally {
        await session.close();
      }
    } finally {
      // What cannot be removed now goes when the next one begins, or with the task.
      await this.remove(task.taskId).catch(() => undefined);
    }
  }

  /** Without a repository a check begins with the workdir of the task. */
  private async begin({ taskId, prepare, repository }: CheckedTask, id: string, signal: AbortSignal): Promise<void> {
    if (repository !== null && prepare === null) return;
    const folders = await this.sandboxes.current.folders(taskId);
    if (folders === null) throw new CheckError('The sandbox of this service keeps no folders, so it has no checks.');
    const from = folders['workdir'] ?? '';
    await this.sandboxes.current.restore(id, async (to, owner) => {
      await prepare?.(to, owner);
      if (repository === null && existsSync(from)) await copyWorkdir(from, to['workdir'] ?? '', owner, signal);
    });
  }

  private async layIn(task: CheckedTask, check: Check, work: CheckedWork, session: SandboxSession): Promise<string[]> {
    const isProtected = protects(check.protect);
    if (task.repository === null) return putBack(session, task.files, isProtected);
    return task.repository.layFresh(session, work.changes, isProtected);
  }
}

type Found = Pick<CheckResult, 'status' | 'exitCode' | 'protectedChanged' | 'workdirSha256'>;

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
