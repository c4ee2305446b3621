import { HostReader } from '../../engine/repositories/host-reader.js';
import type { PullRequestState } from '../../engine/repositories/hosting/host-client.js';
import { HostError } from '../../engine/repositories/hosting/host-error.js';
import { pathAt, RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { type Job, JobHandler, JobWork } from '../../platform/jobs/job-handler.js';
import { JobQueue } from '../../platform/jobs/job-queue.js';
import { Notices } from '../../platform/notices/notices.js';
import { keyOf, nextJob, PULL_REQUESTS, type PullRequestJob } from './pull-request-job.js';
import { FIND, type PullRequestOfTask, RECORD } from './pull-requests.sql.js';

interface Said {
  /** Null: the host has not said it. */
  state: PullRequestState | null;
  /** For how many seconds the host wants to be left alone. */
  pause: number;
}

/**
 * Asks the hosts how the pull requests of tasks stand, ever more rarely, until they are merged or closed (reference §15). A host that does not say it is
 * asked again the next time: nothing fails by it.
 */
@JobHandler(PULL_REQUESTS, { concurrency: 4 })
export class PullRequestStates extends JobWork<PullRequestJob> {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly rules: RepositoryRules,
    private readonly hosts: HostReader,
    private readonly jobs: JobQueue,
    private readonly notices: Notices,
  ) {
    super();
  }

  /** May be repeated: the state is recorded once, and so is the next job ({@link keyOf}). */
  async handle({ data }: Job<PullRequestJob>, signal: AbortSignal): Promise<void> {
    const { taskId } = data;
    const [task] = await this.database.work.run(FIND({ taskId }));
    const number = task === undefined ? null : numberOf(task.url);
    if (task === undefined || number === null) return;
    const { workspaceId, url } = task;
    const { state, pause } = await this.ask(task, number, signal);
    await this.transactions.open(async (tx) => {
      const changed = state !== null && (await tx.run(RECORD({ taskId, url, state }))).length > 0;
      if (changed) tx.afterCommit(() => this.notices.send({ tasks: [taskId], workspace: workspaceId }));
      const next = state === 'merged' || state === 'closed' ? null : nextJob(data, changed, pause);
      if (next === null) return;
      await this.jobs.add(tx, PULL_REQUESTS, next.job, { key: keyOf(next.job), dueAt: next.at, workspaceId });
    });
  }

  private async ask(task: PullRequestOfTask, number: number, signal: AbortSignal): Promise<Said> {
    const { workspace, branch } = task;
    const url = new URL(task.repositoryUrl);
    // What opened it, else what may at least read it. A connection that is gone may be made anew.
    const access =
      (await this.rules.access(null, url, workspace, branch)) ?? (await this.rules.access(null, url, workspace));
    if (access === null) return { state: null, pause: 0 };
    const path = pathAt(url);
    try {
      const state = await this.hosts.ask(access, workspace, path, signal, (reads) => reads.pullRequest(path, number));
      return { state, pause: 0 };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return { state: null, pause: error.retryAfterSeconds ?? 0 };
    }
  }
}

/** As GitHub and GitLab have it in the address; null in any other. */
function numberOf(url: string): number | null {
  const digits = /\/(?:pull|merge_requests)\/(\d{1,15})\/?$/.exec(new URL(url).pathname)?.[1];
  return digits === undefined ? null : Number(digits);
}
