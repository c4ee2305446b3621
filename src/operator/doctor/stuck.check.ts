// Work that nobody does: its lease ended, and nobody took it over. A task that waits for a person is not stuck.
import { type Check, fail, ok, warn } from './check.js';
import { STUCK } from './work.sql.js';
import { count, inTime } from './words.js';

const NAME = 'stuck work';
/** Leases after which a run would long be somebody else's; at least so many seconds. */
const LEASES = 3;
const AT_LEAST = 30;

export const stuckCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run(at) {
    const { sql: database } = await at.database;
    const seconds = Math.max(AT_LEAST, LEASES * at.env.variables.LEASE_SECONDS);
    const [found] = await database.run(STUCK({ seconds }));
    if (found === undefined || found.runs + found.jobs === 0) return [ok(NAME, 'No lease has run out for long.')];
    const { workers, runs, jobs, tasks, age } = found;
    const which = tasks.length > 0 ? ` Tasks: ${tasks.join(', ')}${runs > tasks.length ? ' and others' : ''}.` : '';
    const detail = `${count(runs, 'run')} and ${count(jobs, 'job')} without a worker; the first lease ended ${inTime(age)} ago.${which}`;
    if (workers === 0) return [warn(NAME, detail, 'Start the service, or a worker: it takes them over within a second.')];
    return [fail(NAME, detail, 'Workers are connected and do not take them over: a transaction that stays open may hold their rows (pg_stat_activity), else see their logs.')];
  },
}; // prettier-ignore
