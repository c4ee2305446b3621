import { type Fragment, type None, raw } from '../../platform/database/sql.js';

/**
 * SQL: the run `r`, which the statement has found by its id, has this status. Written so that PostgreSQL does not look for it
 * in a partial index of all that have it: the plan is kept from a time when that index was empty, and then every claim read
 * the whole queue (5,000 waiting: 1 ms), every write of a step all that runs.
 */
export const hasStatus = (status: 'queued' | 'running'): Fragment<None> => raw(`r.status || '' = '${status}'`);
