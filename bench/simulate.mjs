// npm run bench -- simulate [--workers 1,10,30,100] [--seconds 30] [--think 1000] [--rate 2] [--places 16] [--turns 4] [--without-redis] [--json]
// Many workers on one PostgreSQL: bench/simulation/process.mjs says what of them is real.
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keptPlaces } from '../dist/platform/fairness/shares.js';
import { percentile, table } from './figures.mjs';
import { World } from './servers.mjs';
import { arrivals } from './simulation/arrivals.mjs';
import { findFaults } from './simulation/checks.mjs';
import { Crew } from './simulation/crew.mjs';
import { API_NAME, gauge, memoryOfConnections, totals } from './simulation/gauges.mjs';
import { NAME } from './simulation/parts.mjs';
import { startPostgres } from './simulation/postgres.mjs';

const WORKSPACES = 4;
/** At most so much of the places that are open to all is in use: what a task waits for is then the service, and seldom a place. */
const LOAD = 0.5;
/** Without a task, before the load: what workers cost that only look. */
const IDLE_MS = 5_000;
/** More than any round opens. */
const connectionsOf = (workers) => 100 + 50 * workers;
/** How many thinking times after the last arrival all must be over, beside a minute. */
const PATIENCE = 10;

const DEFAULTS = {
  workers: [1, 10, 30, 100],
  seconds: 30,
  think: 1000,
  rate: 2,
  places: 16,
  turns: 4,
  redis: true,
  spoil: false,
};

/**
 * Resolves with whether nothing was lost and nothing doubled.
 *
 * - `seconds`: how long each number of workers is measured, when the first tasks are over.
 * - `think`: milliseconds of an answer of the model, on average. `turns`: answers of a task that are a call, before the last one.
 * - `rate`: tasks a second, or fewer where half of the open places is full with less. The same for all numbers of workers, so that what
 *   differs is of the number.
 * - `spoil`: takes a row of one task away before the tables are looked at, to see that it is missed.
 */
export async function simulate({ json = false, ...given }) {
  const options = { ...DEFAULTS, ...given };
  const { workers } = options;
  const undo = [];
  const close = async () => {
    for (const one of undo.splice(0)) await one();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close().finally(() => process.exit(130)));
  // What a signal meets half open is closed when it is open.
  const opened = (opening, end) => {
    undo.unshift(() => opening.then(end, () => undefined));
    return opening;
  };
  const rounds = [];
  try {
    const url =
      process.env.BENCH_DATABASE_URL ??
      (await opened(startPostgres(connectionsOf(Math.max(...workers))), ({ stop }) => stop())).url;
    const world = await opened(World.open({ tasks: 0, beside: url }), (one) => one.close());
    const keys = await prepare(world);
    for (const count of workers) rounds.push(await round({ world, keys, undo }, count, options));
  } finally {
    await close();
  }
  const faults = rounds.flatMap(({ count, faults: found }) => found.map((fault) => `${count} workers: ${fault}`));
  if (json) console.log(JSON.stringify({ at: new Date().toISOString(), node: process.version, ...options, rounds }));
  else console.log(shown(rounds, options));
  for (const fault of faults) console.error(fault);
  if (faults.length === 0 && !json) console.log('\nNothing was lost, nothing doubled.');
  return faults.length === 0;
}

/** Workspaces that may run as much as there is; resolves with a key of each. */
async function prepare(world) {
  const file = join(world.folder, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  const plans = { free: { runningTasks: 100_000 }, paid: { runningTasks: 100_000 } };
  writeFileSync(file, JSON.stringify({ ...config, plans }));
  const keys = [world.key];
  for (let n = 1; n < WORKSPACES; n++) {
    const { workspace } = await world.cli('workspace', 'create', '--name', `Mill ${n}`, '--plan', 'paid');
    await world.cli('member', 'add', '--workspace', workspace.slug, '--user', 'bench@localhost', '--role', 'member');
    const { key } = await world.cli('key', 'create', '--workspace', workspace.slug, '--user', 'bench@localhost');
    keys.push(key.secret);
  }
  return keys;
}

async function round({ world, keys, undo }, count, options) {
  const { seconds, think, rate, places, turns, redis, spoil } = options;
  const variables = {
    DATABASE_URL: world.databaseUrl,
    ...(redis && { REDIS_URL: world.redisUrl }),
    DATA_DIR: join(world.folder, `round-${count}`),
    SECRET_KEY: 'a secret of the bench, at least 32 bytes long',
    CONFIG_FILE: join(world.folder, 'config.json'),
    WORKER_CONCURRENCY: String(places),
    DISK_RESERVE_BYTES: '0',
    SANDBOX: NAME,
    STORAGE: NAME,
    LOG_LEVEL: 'error',
  };
  const apiVariables = { ROLE: 'api', DATABASE_URL: named(world.databaseUrl) };
  const crew = await Crew.start(count, { turns, thinkMs: think, variables, apiVariables });
  const stop = () => crew.stop();
  undo.unshift(stop);
  try {
    const [idle, idleCpu] = [[await totals(world)], crew.cpu];
    await delay(IDLE_MS);
    idle.push(await totals(world));
    const idleCore = ((crew.cpu - idleCpu) * 1000) / IDLE_MS / count;
    const taskMs = (turns + 1) * think;
    const most = (LOAD * count * (places - keptPlaces(places)) * 1000) / taskMs;
    const endArrivals = arrivals(crew.origin, keys, Math.min(rate, most));
    await delay(taskMs);
    await crew.figures();
    const begin = await began(world);
    const [before, cpu, endGauge] = [await totals(world), crew.cpu, await gauge(world)];
    await delay(seconds * 1000);
    const [after, figures, seen] = [await totals(world), await crew.figures(), await endGauge()];
    const worked = {
      cpu: crew.cpu - cpu,
      residentMiB: crew.residentMiB / count,
      connectionMiB: await memoryOfConnections(world),
      idleCore,
    };
    const waits = await waited(world, begin);
    const ids = await endArrivals();
    await over(world, crew, ids, PATIENCE * think + 60_000);
    if (spoil)
      await world.db.query(
        'DELETE FROM usage_ledger WHERE message_id = (SELECT message_id FROM usage_ledger WHERE task_id = $1 LIMIT 1)',
        [ids[0]],
      );
    const { faults, recovered } = await findFaults(world.db, ids, turns, await crew.answeredTwice());
    const measured = { idle, before, after, figures, seen, worked, waits, recovered };
    return { count, tasks: ids.length, load: loadavg()[0], faults, figures: figuresOf(count, measured) };
  } finally {
    undo.splice(undo.indexOf(stop), 1);
    await crew.stop();
  }
}

function named(url) {
  const address = new URL(url);
  address.searchParams.set('application_name', API_NAME);
  return address.href;
}

async function began(world) {
  const { rows } = await world.db.query('SELECT clock_timestamp() AS at');
  return rows[0].at;
}

/** From the begin of the creating transaction to the claim, by the database's clock. Milliseconds. */
async function waited(world, begin) {
  const { rows } = await world.db.query(
    `SELECT extract(epoch FROM r.claimed_at - t.created_at)::float8 * 1000 AS ms FROM tasks t JOIN runs r ON r.task_id = t.id
     WHERE t.created_at >= $1 AND r.claimed_at IS NOT NULL`,
    [begin],
  );
  return rows.map(({ ms }) => ms);
}

/** Resolves when none of the tasks goes on. Those that still do after their time are faults. */
async function over(world, crew, ids, patienceMs) {
  const until = performance.now() + patienceMs;
  const text = `SELECT FROM tasks WHERE id = ANY($1) AND status IN ('queued', 'running') LIMIT 1`;
  while ((await world.db.query(text, [ids])).rowCount > 0 && performance.now() < until) {
    crew.check();
    await delay(200);
  }
}

function figuresOf(count, { idle, before, after, figures, seen, worked, waits, recovered }) {
  const secondsOf = ([from, to]) => (to.at - from.at) / 1000;
  const time = secondsOf([before, after]);
  const steps = after.steps - before.steps;
  const idleCpu = idle[1].cpu - idle[0].cpu;
  return {
    'tasks/s': (after.tasks - before.tasks) / time,
    'steps/s': steps / time,
    'wait in the queue, p50 ms': percentile(waits, 0.5),
    'wait in the queue, p99 ms': percentile(waits, 0.99),
    'claim, p50 ms': percentile(figures.claimMs, 0.5),
    'claim, p99 ms': percentile(figures.claimMs, 0.99),
    'look at the queue, p50 ms': percentile(figures.lookMs, 0.5),
    'look at the queue, p99 ms': percentile(figures.lookMs, 0.99),
    'recording, p50 ms': percentile(figures.writeMs, 0.5),
    'recording, p99 ms': percentile(figures.writeMs, 0.99),
    'floor: a round trip, p50 ms': percentile(seen.trip, 0.5),
    'floor: a round trip, p99 ms': percentile(seen.trip, 0.99),
    'floor: a commit, p50 ms': percentile(seen.commit, 0.5),
    'floor: a commit, p99 ms': percentile(seen.commit, 0.99),
    'claims/s': (figures.claimed + figures.lost) / time,
    'claims that won, of 100': share(100 * figures.claimed, figures.claimed + figures.lost),
    'looks/s': figures.looks / time,
    'looks that found nothing, of 100': share(100 * figures.emptyLooks, figures.looks),
    'renewals/s': figures.renewals / time,
    'leases in a renewal': share(figures.renewed, figures.renewals),
    'PostgreSQL: CPU ms a step': ((after.cpu - before.cpu) * 1000) / steps,
    'PostgreSQL: part of a core': (after.cpu - before.cpu) / time,
    'PostgreSQL: part of a core, idle': idleCpu / secondsOf(idle),
    'transactions/s': (after.transactions - before.transactions) / time,
    'transactions/s, idle': (idle[1].transactions - idle[0].transactions) / secondsOf(idle),
    'WAL, bytes a step': (after.wal - before.wal) / steps,
    'database, bytes a step': (after.bytes - before.bytes) / steps,
    'connections of workers, most': seen.workers,
    'connections of one worker': seen.workers / count,
    'PostgreSQL: MiB a connection': worked.connectionMiB,
    'connections of the api, most': seen.api,
    'connections to Redis, most': seen.redis,
    'workers: CPU ms a step': (worked.cpu * 1000) / steps,
    'workers: part of a core each, idle': worked.idleCore,
    'workers: MiB each': worked.residentMiB,
    'taken over': recovered,
  };
}

function share(part, whole) {
  return whole === 0 ? 0 : part / whole;
}

function shown(rounds, { seconds, think, rate, places, turns, redis }) {
  const names = Object.keys(rounds[0].figures);
  const of = (row, value) => ({
    figure: row,
    ...Object.fromEntries(rounds.map((one) => [`${one.count} workers`, value(one)])),
  });
  const rows = [
    ...names.map((name) => of(name, ({ figures }) => figures[name])),
    of('tasks in all', ({ tasks }) => tasks),
    of('load average', ({ load }) => load),
  ];
  const about = `${seconds} s, at most ${rate} tasks/s of ${turns + 1} steps of ${think} ms, ${places} places each, ${redis ? 'with' : 'without'} Redis`;
  return table(`Many workers on one PostgreSQL: ${about}`, rows);
}
