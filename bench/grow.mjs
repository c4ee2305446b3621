// npm run bench -- grow [--tasks 200000] [--rounds 9]: every hot route on a full database beside an empty one, taking turns.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startModel } from './agent.mjs';
import { median, percentile, table } from './figures.mjs';
import { fill, queue, sizes } from './fill.mjs';
import { World } from './servers.mjs';
import { taker } from './tasks.mjs';

/** The original of all copies: ten messages. */
const TASK = 'Grind. turns=8 tool=write';
const MESSAGES = 10;
/** Requests of a route in a round, after one that opens connections and fills caches. */
const REQUESTS = 8;
const MONTH_MS = 30 * 86_400_000;

const list = (query) => () => `/v1/tasks?limit=50&${query}`;
const ROUTES = {
  task: ({ task }) => `/v1/tasks/${task}`,
  messages: ({ task }) => `/v1/tasks/${task}/messages`,
  'task events': ({ task }) => `/v1/tasks/${task}/events`,
  files: ({ task }) => `/v1/tasks/${task}/files`,
  projects: () => '/v1/projects',
  events: () => '/v1/events',
  list: list(''),
  'list, all': list('archived=all'),
  'list, archived': list('archived=true'),
  'list, deep': ({ deep }) => `/v1/tasks?limit=50&createdBefore=${deep}`,
  'list, updatedAt': list('sort=updatedAt'),
  'list, running': list('status=running'),
  'list, queued': list('status=queued'),
  'list, awaiting_input': list('status=awaiting_input'),
  'list, completed': list('status=completed'),
  'list, failed (none)': list('status=failed'),
  'list, failed and cancelled (none)': list('status=failed,cancelled'),
  'q, common': list('q=rye'),
  'q, one of 1,000': list('q=silo+17'),
  'q, two of 1,000': list('q=17+sieve'),
  'q, old and rare': list('q=millwright'),
  'q, missing': list('q=windmill'),
  'q, beginning': list('q=mill'),
  'tag, 5 %': list('tag=release'),
  'tag, rare': list('tag=spare'),
  'tag, missing': list('tag=none'),
  'metadata, one': list('metadata.ticket=MILL-170'),
  'metadata, missing': list('metadata.ticket=MILL-1'),
  'q and tag': list('q=rye&tag=release'),
  'q, updatedAt': list('q=rye&sort=updatedAt'),
  'tag, updatedAt': list('tag=release&sort=updatedAt'),
  audit: () => '/v1/audit?limit=50',
  'audit, common action': () => '/v1/audit?limit=50&action=task.create',
  'audit, rare action': () => '/v1/audit?limit=50&action=task.delete',
  'audit, missing action': () => '/v1/audit?limit=50&action=none',
  'audit, rare actor': ({ rare }) => `/v1/audit?limit=50&actor=${rare}`,
  'audit, both': ({ rare }) => `/v1/audit?limit=50&actor=${rare}&action=task.delete`,
  'billing summary': () => '/v1/billing/summary',
  ...Object.fromEntries(
    ['day', 'model', 'project', 'user', 'automation'].map((key) => [
      `usage by ${key}`,
      () => `/v1/billing/usage?groupBy=${key}`,
    ]),
  ),
  'usage, cut days': () => {
    const to = new Date();
    return `/v1/billing/usage?groupBy=model&from=${new Date(to.getTime() - MONTH_MS).toISOString()}&to=${to.toISOString()}`;
  },
};

/** `only`: names of routes that are measured, or parts of names. */
export async function grow({ tasks = 200_000, queued = tasks / 2, rounds = 9, only = [] }) {
  const empty = await World.open({ tasks: 0 });
  const undo = [() => empty.close()];
  try {
    const full = await World.open({ tasks: 0, beside: empty.databaseUrl });
    undo.unshift(() => full.close());
    const model = await startModel();
    undo.unshift(() => model.stop());
    const [none, all] = [await prepare(empty, model), await prepare(full, model)];
    undo.unshift(() => Promise.all([none, all].map(({ service }) => service?.stop())));
    const seconds = await fill(full, all.task, tasks);
    await full.db.query(RARE, [all.task, all.rare]);
    await addUp(full.db);
    console.log(`${tasks} tasks of ${MESSAGES} messages in ${Math.round(seconds)} s.`);
    console.log(table('What they take', await sizes(full.db, tasks * MESSAGES)));
    for (const one of [none, all]) one.service = await one.world.service(model.env);
    console.log(table('One request after the other, milliseconds', await routes({ none, all }, rounds, only)));
    for (const one of [none, all]) await one.service.stop();
    console.log(table(`The queue, milliseconds: ${queued} runs wait`, await claims({ none, all }, queued, rounds)));
  } finally {
    for (const one of undo) await one();
  }
}

/** One task from its creation to its end, and the ids and credentials that the routes need. */
async function prepare(world, model) {
  const owner = 'keeper@localhost';
  await world.cli('user', 'create', '--email', owner, '--name', 'Keeper');
  await world.cli('member', 'add', '--workspace', 'default', '--user', owner, '--role', 'owner');
  const { key } = await world.cli('key', 'create', '--workspace', 'default', '--user', owner);
  const service = await world.service(model.env);
  const task = await taker(world, service.origin)(TASK);
  // The sealer of the audit log comes by every four seconds.
  await delay(5_000);
  await service.stop();
  const { rows } = await world.db.query('SELECT id FROM users WHERE email = $1', [owner]);
  const deep = new Date(Date.now() - MONTH_MS).toISOString();
  return { world, task, deep, rare: rows[0].id, key: key.secret, origin: service.origin };
}

// The oldest entry is of an action and of an actor that have no other one.
const RARE = `
INSERT INTO audit_log (workspace_id, at, id, xid, actor_id, action, target_type, target_id, outcome, seq, hash)
SELECT workspace_id, at - interval '1 minute', gen_random_uuid(), xid, $2, 'task.delete', target_type, target_id, outcome, 999999, hash
FROM audit_log WHERE workspace_id = (SELECT workspace_id FROM tasks WHERE id = $1) ORDER BY at LIMIT 1`;

/** As the service's chore does within ten minutes: the use of days that are over. */
async function addUp(db) {
  const { DUE, CLOSE } = await import('../dist/resources/billing/usage-sums.sql.js');
  for (let due; (due = (await db.query(DUE({ limit: 100 }))).rows).length > 0;) {
    for (const { id } of due) await db.query(CLOSE({ workspaceId: id }));
  }
  await db.query('VACUUM ANALYZE usage_sums');
}

async function routes({ none, all }, rounds, only) {
  const rows = [];
  for (const [name, pathOf] of Object.entries(ROUTES)) {
    if (only.length > 0 && !only.some((part) => name.includes(part))) continue;
    const times = { none: [], all: [] };
    for (let round = 0; round < rounds; round++) {
      times.none.push(...(await requests(none, pathOf(none))));
      times.all.push(...(await requests(all, pathOf(all))));
    }
    rows.push({ route: name, ...compared(times) });
  }
  const performs = { none: taker(none.world, none.service.origin), all: taker(all.world, all.service.origin) };
  const times = { none: [], all: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [name, perform] of Object.entries(performs)) times[name].push(await timed(() => perform(TASK)));
  }
  rows.push({ route: 'create to completed', ...compared(times) });
  rows.push({ route: 'boot', ...compared({ none: [none.service.bootMs], all: [all.service.bootMs] }) });
  return rows;
}

async function requests({ service, key }, path) {
  const times = [];
  for (let n = 0; n <= REQUESTS; n++) times.push(await timed(() => get(service.origin + path, key)));
  return times.slice(1);
}

async function get(url, key) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The look at the queue, and the claim of the run that is next, on connections as the service opens them. Each claim is taken back. */
async function claims({ none, all }, queued, rounds) {
  const { Database } = await import('../dist/platform/database/database.js');
  const { QUEUED, CLAIM } = await import('../dist/work/runs/run-claims.sql.js');
  const here = { machineId: randomUUID(), leaseSeconds: 30 };
  const { usageRulesOf } = await import('../dist/resources/billing/usage.sql.js');
  const caps = { freeCap: 4, paidCap: 20 };
  const times = { look: { none: [], all: [] }, claim: { none: [], all: [] } };
  for (const [name, world, waiting] of [['none', none.world, 1], ['all', all.world, queued]]) {
    await queue(world.db, waiting);
    const database = new Database(world.databaseUrl);
    const client = await database.claims.connect();
    try {
      for (let n = 0; n < rounds * REQUESTS; n++) {
        let next;
        const look = QUEUED({ limit: 8, open: 4, claiming: [], ...here, ...caps });
        times.look[name].push(await timed(async () => ([next] = await database.polling.run(look))));
        const claim = CLAIM({ runId: next.id, rules: usageRulesOf({}), ...here, ...caps });
        await client.query('BEGIN');
        times.claim[name].push(await timed(() => client.query(claim)));
        await client.query('ROLLBACK');
      }
    } finally {
      client.release();
      await database.close();
    }
  }
  return Object.entries(times).map(([statement, both]) => ({ statement, ...compared(both) }));
} // prettier-ignore

function compared({ none, all }) {
  return {
    'empty p50': median(none),
    'empty p99': percentile(none, 0.99),
    'full p50': median(all),
    'full p99': percentile(all, 0.99),
    ratio: median(all) / median(none),
  };
}
