import { firstJob, keyOf, nextJob, type PullRequestJob } from './pull-request-job.js';

const DAY = 86_400_000;

describe('The questions about a pull request (reference §15)', () => {
  const minutesAfter = (job: PullRequestJob, changed = false, least = 0) => {
    const next = nextJob(job, changed, least);
    return next === null ? null : Math.round((next.at.getTime() - Date.now()) / 60_000);
  };

  it('come after 1, 5, 15 and 60 minutes, then every six hours', () => {
    const minutes: (number | null)[] = [];
    let job = firstJob('a');
    for (let n = 0; n < 7; n++) {
      minutes.push(minutesAfter(job));
      job = nextJob(job, false, 0)?.job ?? job;
    }
    expect(minutes).toEqual([1, 5, 15, 60, 360, 360, 360]);
  });

  it('end 30 days after the last change', () => {
    const old = { taskId: 'a', asked: 130, since: new Date(Date.now() - 30 * DAY + 7 * 3_600_000).toISOString() };
    expect(minutesAfter(old)).toBe(360);
    const older = { ...old, since: new Date(Date.now() - 30 * DAY + 5 * 3_600_000).toISOString() };
    expect(minutesAfter(older)).toBeNull();
    expect(minutesAfter(older, true)).toBe(360);
    expect(Date.now() - Date.parse(nextJob(older, true, 0)?.job.since ?? '')).toBeLessThan(DAY);
  });

  it('leave a host alone for as long as it says', () => {
    expect(minutesAfter(firstJob('a'), false, 1800)).toBe(30);
    expect(minutesAfter({ ...firstJob('a'), asked: 4 }, false, 1800)).toBe(360);
  });

  it('each have a key of their own', () => {
    const job = firstJob('a');
    expect(keyOf(nextJob(job, false, 0)?.job ?? job)).not.toBe(keyOf(job));
  });
});
