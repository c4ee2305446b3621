// What waits: queued runs, due automations, jobs and events, and whether anybody works on them.
import { type Check, fail, type Finding, ok, warn } from './check.js';
import { QUEUES, type Queues, type Waiting } from './work.sql.js';
import { count, inTime } from './words.js';

/** Seconds. A worker polls each second. */
const OLD = 60;
/** From then on what waits although workers are there is not merely much. */
const TOO_OLD = 600;

const START = 'Start the service, or a worker: none is connected to this database.';

export const queuesCheck: Check = {
  name: 'queues',
  asksDatabase: true,
  async run(at) {
    const { sql: database } = await at.database;
    const [found] = await database.run(QUEUES());
    if (found === undefined) throw new Error('PostgreSQL answered without a row.');
    const { workers, automations, jobs, events } = found;
    return [
      ofRuns(found),
      ofOthers('queue of automations', 'due automation', automations, workers),
      ofOthers('queue of jobs', 'due job', jobs, workers),
      ofOthers('queue of events', 'handler with unread events', events, workers),
      ...failedJobs(found),
    ];
  },
};

function inWords({ n, age }: Waiting, noun: string): string {
  return n === 0 ? `No ${noun} waits.` : `${count(n, noun)}; the first for ${inTime(age)}.`;
}

function ofRuns({ runs, working, workers }: Queues): Finding {
  const name = 'queue of runs';
  const detail = `${inWords(runs, 'queued run')} ${count(working, 'run')} under way.`;
  if (runs.age <= OLD) return ok(name, detail);
  if (workers === 0) return warn(name, detail, START);
  if (working > 0) return warn(name, detail, 'All places, or those of the plan, are taken: more workers, or a higher WORKER_CONCURRENCY or runningTasks.');
  return fail(name, detail, 'Workers are connected and take nothing: see the line about the disk, and their logs.');
} // prettier-ignore

function ofOthers(name: string, noun: string, waiting: Waiting, workers: number): Finding {
  const detail = inWords(waiting, noun).replace(/(handler)( with unread events)s/, '$1s$2');
  if (waiting.age <= OLD) return ok(name, detail);
  if (workers === 0) return warn(name, detail, START);
  if (waiting.age <= TOO_OLD) return warn(name, detail, 'Look again in some minutes; if it grows, add workers.');
  return fail(name, detail, 'Workers are connected and do not come to it: see their logs; a transaction that stays open for long stops the events.');
} // prettier-ignore

function failedJobs({ failedJobs: n }: Queues): Finding[] {
  if (n === 0) return [];
  return [warn('failed jobs', `${count(n, 'job')} of the last 30 days, which nothing tries again.`, 'docs/operating.md, "Watching it", shows how to see why, and how to have them begun again.')];
} // prettier-ignore
