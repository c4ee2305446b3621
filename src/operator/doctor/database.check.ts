// PostgreSQL itself: whether it answers and how fast, its version, the settings on which promises stand, its connections.
import { DATABASE_CONNECTIONS } from '../../platform/config/descriptors.js';
import { sql } from '../../platform/database/sql.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { OpenDatabase } from './examination.js';
import { latencyOf } from './latency.js';
import { inMs, reasonOf } from './words.js';

/** Migration 0015 makes an index with NULLS NOT DISTINCT, which PostgreSQL 15 brought. */
const OLDEST = 15;
/** The version that the service is tested with, and embeds. */
const TESTED = 18;
/** Milliseconds. A request asks several times, one after the other. */
const SLOW = 20;
/** Part of the connections in use above which they become scarce. */
const TIGHT = 0.8;

const PING = sql`SELECT 1`.rows();

interface Server {
  version: string;
  number: number;
  fsync: string;
  synchronousCommit: string;
  fullPageWrites: string;
  isolation: string;
  encoding: string;
  standby: boolean;
  readOnly: string;
  jit: string;
  max: number;
  reserved: number;
  used: number;
  processes: number;
  own: number;
}

// `millwright channel` is the one connection that each process always has. This session has made itself read-only: `reset_val` is
// what the sessions of the service have.
const SERVER = sql`
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS number,
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS "fullPageWrites",
  current_setting('synchronous_commit') AS "synchronousCommit", current_setting('default_transaction_isolation') AS isolation,
  current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
  (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only') AS "readOnly",
  current_setting('jit') AS jit,
  current_setting('max_connections')::int AS max,
  current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' OR backend_type IS NULL) AS used,
  count(*) FILTER (WHERE application_name = 'millwright channel')::int AS processes,
  count(*) FILTER (WHERE application_name LIKE 'millwright%')::int AS own
FROM pg_stat_activity WHERE datname = current_database()`.rows<Server>();

export const databaseCheck: Check = {
  name: 'database',
  measures: true,
  async run(at) {
    let database: OpenDatabase;
    try {
      database = await at.database;
    } catch (error) {
      return [unreachable(reasonOf(error), at.env.variables.DATABASE_URL !== undefined)];
    }
    const latency = await latencyOf(() => database.sql.run(PING()));
    const [server] = await database.sql.run(SERVER());
    if (server === undefined) throw new Error('PostgreSQL answered without a row.');
    const speed = `20 looks: ${inMs(latency.median)} in the middle, ${inMs(latency.worst)} at most`;
    return [versionOf(server, speed, latency.median), settingsOf(server), connectionsOf(server)];
  },
};

function unreachable(reason: string, external: boolean): Finding {
  const advice = external
    ? 'Start PostgreSQL, or correct DATABASE_URL.'
    : 'Set DATA_DIR to the folder of the service; the log of the service says more of an embedded database that does not start.';
  return fail('database', `No database can be used: ${reason}`, advice);
}

function versionOf({ version, number }: Server, speed: string, median: number): Finding {
  const detail = `PostgreSQL ${version}; ${speed}.`;
  if (number < OLDEST) return fail('database', detail, `Upgrade PostgreSQL: the service needs ${OLDEST} or later.`);
  if (median > SLOW)
    return warn('database', detail, 'Bring the database nearer, or give it more processor: each request asks it several times.');
  if (number < TESTED)
    return warn('database', detail, `The service is tested with PostgreSQL ${TESTED}: upgrade when you can.`);
  return ok('database', detail);
} // prettier-ignore

function settingsOf(server: Server): Finding {
  const name = 'database settings';
  const { fsync, synchronousCommit, fullPageWrites, isolation, encoding, standby, readOnly, jit } = server;
  if (standby || readOnly === 'on') {
    const detail = standby ? 'This server is a standby.' : 'default_transaction_read_only is on.';
    return fail(name, `${detail} Nothing can be written.`, 'Point DATABASE_URL to the primary server, or make it writable.');
  }
  const durability = { fsync, synchronous_commit: synchronousCommit, full_page_writes: fullPageWrites };
  const off = Object.entries(durability).filter(([, value]) => value === 'off').map(([setting]) => setting);
  if (off.length > 0) {
    const detail = `Off: ${off.join(', ')}. A power cut takes work with it that was acknowledged, or breaks the database.`;
    return fail(name, detail, 'Switch them on in postgresql.conf and reload PostgreSQL.');
  }
  if (encoding !== 'UTF8')
    return fail(name, `The encoding of the database is ${encoding}.`, 'Make a database with the encoding UTF8.');
  if (isolation !== 'read committed') {
    const detail = `default_transaction_isolation is '${isolation}'.`;
    return warn(name, detail, "Set it to 'read committed': the statements of the service rely on it.");
  }
  if (jit === 'on') {
    const detail = 'jit is on: with a long queue PostgreSQL compiles each claim of a run for ten times as long as it works on it.';
    return warn(name, detail, 'The service asks for jit=off. Take it out of DATABASE_URL, or let the pooler hand on `options`; or set it for the role: ALTER ROLE … SET jit = off.');
  }
  return ok(name, `fsync, full_page_writes and synchronous_commit (${synchronousCommit}) are on, jit is off, the encoding is UTF8.`);
} // prettier-ignore

function connectionsOf({ max, reserved, used, own, processes }: Server): Finding {
  const name = 'database connections';
  const open = max - reserved;
  const running = Math.max(1, processes);
  const whose = `${own} of them by this command and the processes of the service, of which ${processes} are connected`;
  const detail = `${used} of ${open} are in use, ${whose}; each opens up to ${DATABASE_CONNECTIONS}.`;
  if (open < DATABASE_CONNECTIONS)
    return fail(name, detail, `Set max_connections to at least ${DATABASE_CONNECTIONS + reserved}.`);
  if (open < DATABASE_CONNECTIONS * running || used > open * TIGHT) {
    return warn(
      name,
      detail,
      `Raise max_connections: ${DATABASE_CONNECTIONS} for each process, and what else uses this server.`,
    );
  }
  return ok(name, detail);
}
