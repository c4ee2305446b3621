// The jobs that ask how a pull request stands: one waits at a time, and each leaves the next one.

/** Their queue. */
export const PULL_REQUESTS = 'pull-requests';

/** One question of many about the pull request of a task. */
export interface PullRequestJob {
  taskId: string;
  /** How many there were before. */
  asked: number;
  /** Since when its state is the same, in ISO 8601. */
  since: string;
}

const SECONDS = [60, 300, 900, 3600, 21_600];
const LONGEST_MS = 30 * 86_400_000;

export function firstJob(taskId: string): PullRequestJob {
  return { taskId, asked: 0, since: new Date().toISOString() };
}

/**
 * The job after `job`, and when it begins; null when the state has not changed for 30 days.
 * @param changed whether the state is another one than before.
 * @param least seconds that the host wants to be left alone.
 */
export function nextJob(
  job: PullRequestJob,
  changed: boolean,
  least: number,
): { job: PullRequestJob; at: Date } | null {
  const now = Date.now();
  const since = changed ? new Date(now).toISOString() : job.since;
  const seconds = Math.max(least, SECONDS[job.asked] ?? Number(SECONDS.at(-1)));
  const at = new Date(now + seconds * 1000);
  if (at.getTime() > Date.parse(since) + LONGEST_MS) return null;
  return { job: { ...job, asked: job.asked + 1, since }, at };
}

/**
 * Its number is in it, because a job that adds the next one is still there itself. One that is carried out a second time, after a crash, adds the next
 * one again only when that is over; that one then finds its own next one waiting.
 */
export function keyOf({ taskId, asked }: PullRequestJob): string {
  return `${taskId} ${asked}`;
}
