import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AgentInput } from '../../engine/agent/agent-engine.js';
import type { Check, CheckResult, TaskChecks } from '../../engine/checks/check.js';
import type { CheckedWork } from '../../engine/agent/input-checks.js';
import { type CheckedTask, CheckRunner } from '../../engine/checks/check-runner.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { BuildStore } from '../environments/build-store.js';
import type { ClaimedRun } from './claimed-run.js';
import { BUILD, KNOWN } from './run-checks.sql.js';
import type { TaskInput } from './run-loader.sql.js';

/** What an engine checks the work of a run with (reference §26). */
@Injectable()
export class RunChecking {
  constructor(
    private readonly runner: CheckRunner,
    private readonly builds: BuildStore,
    private readonly database: Database,
  ) {}

  /** The input with the checks of its task. */
  of(run: ClaimedRun, task: TaskInput, checks: TaskChecks, input: AgentInput): AgentInput {
    const { repairs, seen, again } = task;
    let checked: Promise<CheckedTask> | null = null;
    const known = async (check: Check) => {
      const original = originalOf(run, task, input, check);
      return original === null ? null : this.known(original, check, input.signal);
    };
    const unknown = checks.checks.filter((check) => !seen.some((one) => isOf(check, one)));
    const before = seen.filter((one) => checks.checks.some((check) => isOf(check, one)));
    return {
      ...input,
      // What the turn has used of its time is over.
      ...(again ? { spent: { ...input.spent, durationMs: 0 } } : {}),
      checks: {
        ...checks,
        ...{ repairs, before, unknown, again, known },
        run: async (check, work) => {
          const done = await this.runner.run(await (checked ??= this.taskOf(run, task, input)), check, work);
          if (work.phase === 'before' && !wasCutShort(done.result, check, work))
            done.result.original = originalOf(run, task, input, check);
          return done;
        },
      },
    };
  }

  private async taskOf(run: ClaimedRun, { environment: its }: TaskInput, input: AgentInput): Promise<CheckedTask> {
    const { taskId, network = false, environment, files, project = [], repository = null, signal } = input;
    const [found] =
      its === null ? [] : await retryWhileUnavailable(() => this.database.work.run(BUILD({ taskId })), signal);
    const prepare: CheckedTask['prepare'] =
      found === undefined
        ? null
        : ({ workdir = '', home = '' }, owner) =>
            this.builds.fill({ run, signal }, found.build, { workdir, home }, owner);
    return { taskId, network, environment, files, project, repository, prepare };
  }

  private async known(original: string, check: Check, signal: AbortSignal): Promise<CheckResult | null> {
    const [found] = await retryWhileUnavailable(() => this.database.work.run(KNOWN({ original })), signal);
    if (found === undefined) return null;
    const { timeoutSeconds: _limit, ...ran } = check;
    return { id: newId(), ...ran, ...found, protectedChanged: [], workdirSha256: null, patchSha256: null, original };
  }
}

/** A check with another command is another one. */
const isOf = (check: Check, seen: TaskInput['seen'][number]) =>
  check.name === seen.name && check.command === seen.command;

/** By the time of its turn, which says nothing to another one. */
const wasCutShort = ({ status }: CheckResult, { timeoutSeconds }: Check, { secondsLeft }: CheckedWork) =>
  status === 'timed_out' && secondsLeft !== null && secondsLeft < timeoutSeconds;

/** What a check runs on and with before the agent does, in one digest. Null without a repository: what was attached is another task's each time. */
function originalOf(
  { workspaceId }: ClaimedRun,
  { projectId, repository, environment }: TaskInput,
  { repository: laidIn, network = false }: AgentInput,
  { command, timeoutSeconds, ...check }: Check,
): string | null {
  const commit = laidIn?.commit ?? null;
  if (repository === null || commit === null) return null;
  const place = [workspaceId, projectId, repository.url, commit, environment?.id ?? null, environment?.version ?? null];
  const all = [...place, command, timeoutSeconds, check.network && network];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
