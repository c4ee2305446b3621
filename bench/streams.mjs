// What streams of events cost: idle ones in memory and CPU time, and how long an event takes from its transaction to the client.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startModel } from './agent.mjs';
import { inRounds, median, percentile } from './figures.mjs';
import { MemoryFile } from './memory.mjs';
import { cpuOfTree } from './processes.mjs';

const WORKSPACES = 5;
/** Of a workspace, with as many streams each as a key may have. */
const KEYS = 10;
const OF_KEY = 20;
const IDLE_MS = 20_000;
/** What an open or closed connection leaves to be done is done then. */
const REST_MS = 2_000;

/** A thousand streams on which nothing comes, in one process; then the way of an event, in one process and in two. */
export async function streams(world, { rounds }) {
  const keys = [];
  for (let n = 0; n < WORKSPACES; n++) keys.push(...(await newKeys(world, n)));
  const idle = await inRounds({ [`${keys.length * OF_KEY} idle`]: () => idleStreams(world, keys) }, rounds);
  const model = await startModel();
  try {
    const subjects = Object.entries(PLACES).map(([name, roles]) => [name, () => way(world, model, roles)]);
    const ways = await inRounds(Object.fromEntries(subjects), rounds);
    return Object.entries({ ...idle, ...ways }).map(([subject, row]) => ({ subject, ...row }));
  } finally {
    await model.stop();
  }
}

const PLACES = {
  all: [{ ROLE: 'all', REDIS_URL: null }],
  'api + worker': [
    { ROLE: 'api', REDIS_URL: null },
    { ROLE: 'worker', REDIS_URL: null },
  ],
};

/**
 * Memory is what V8 and the buffers hold after a full collection, with the streams open and without them, after as many were opened and
 * closed before. Resident memory tells less: it also has what V8 took for the burst and gives back later.
 */
async function idleStreams(world, keys) {
  const memory = new MemoryFile(world.folder);
  const api = await world.service({ ...memory.env, ROLE: 'api', REDIS_URL: null }, memory.flags);
  const open = [];
  const openAll = async () => {
    for (const key of keys) {
      const some = Array.from({ length: OF_KEY }, (_, n) =>
        openStream(`${api.origin}/v1/events?types=task.*&after=${n % 2 === 0 ? 0 : 'latest'}`, key),
      );
      open.push(...(await Promise.all(some)));
    }
    await delay(REST_MS);
  };
  const closed = async () => {
    for (const { end } of open.splice(0)) end();
    await delay(REST_MS);
    return memory.of(api);
  };
  try {
    await openAll();
    const without = await closed();
    const [cpu, began] = [api.cpu, performance.now()];
    await openAll();
    const [openMs, openCpu] = [performance.now() - began - REST_MS, api.cpu - cpu];
    const shares = await sharesOfACore(world, api);
    const all = await memory.of(api);
    const kib = (bytes) => bytes / 1024 / open.length;
    return {
      'KiB each': kib(all.heapUsed + all.external - without.heapUsed - without.external),
      ...shares,
      'opened in ms': openMs,
      'CPU ms to open': openCpu * 1000,
    };
  } finally {
    for (const { end } of open) end();
    await api.stop();
  }
}

async function sharesOfACore(world, api) {
  const postgres = await postmaster(world.db);
  const cpu = () => [api.cpu, cpuOfTree(postgres)];
  const [before, from] = [cpu(), performance.now()];
  await delay(IDLE_MS);
  const seconds = (performance.now() - from) / 1000;
  const [own, database] = cpu().map((now, i) => (100 * (now - before[i])) / seconds);
  return { '% of a core': own, "PostgreSQL's": database };
}

/** The process of the server. */
async function postmaster(db) {
  const { rows } = await db.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid");
  return rows[0].pid;
}

/** Keys of a workspace of their own. */
async function newKeys(world, n) {
  const slug = `streams-${n}`;
  await world.cli('workspace', 'create', '--name', slug, '--slug', slug);
  await world.cli('member', 'add', '--workspace', slug, '--user', 'bench@localhost', '--role', 'member');
  const keys = [];
  for (let k = 0; k < KEYS; k++) {
    const { key } = await world.cli('key', 'create', '--workspace', slug, '--user', 'bench@localhost');
    keys.push(key.secret);
  }
  return keys;
}

/** From the begin of the statement that writes an event to the arrival at the client: its transaction and its commit are in it. */
async function way(world, model, roles) {
  const services = await Promise.all(roles.map((env) => world.service({ ...env, ...model.env })));
  const { origin } = services[0];
  try {
    const all = [];
    const floors = { 'SELECT ms': [], 'commit ms': [] };
    for (let n = 0; n < 12; n++) {
      const arrived = await followed(origin, world.key);
      if (n < 2) continue;
      all.push(...(await waysOf(world, arrived)));
      floors['SELECT ms'].push(...(await roundTrips(world.db, 'SELECT 1')));
      floors['commit ms'].push(...(await roundTrips(world.db, A_WRITE)));
    }
    const medians = Object.entries(floors).map(([name, some]) => [name, median(some)]);
    return { 'p50 ms': median(all), 'p99 ms': percentile(all, 0.99), ...Object.fromEntries(medians) };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

const A_WRITE = 'UPDATE floor.tasks SET updated_at = now() WHERE id = (SELECT id FROM floor.tasks LIMIT 1)';

/** What asking the database, and waiting for its disk, costs in the same minutes: a commit is part of the way of an event. */
async function roundTrips(db, text) {
  const all = [];
  for (let n = 0; n < 20; n++) {
    const began = performance.now();
    await db.query(text);
    all.push(performance.now() - began);
  }
  return all;
}

/** A task of ten steps, followed from its beginning to its end: when each event has arrived, milliseconds since 1970. */
async function followed(origin, key) {
  const arrived = new Map();
  const body = JSON.stringify({ title: 'A task', content: 'Write. turns=10 tool=write' });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
  const answer = await fetch(`${origin}/v1/tasks`, { method: 'POST', headers, body });
  const { task } = await answer.json();
  let latest = Infinity;
  const stream = await openStream(`${origin}/v1/tasks/${task.id}/events?until=final`, key, ({ type, seq, latest: upTo }) => {
    if (type === 'stream.ready') latest = upTo;
    // What was there before is history.
    if (seq > latest) arrived.set(seq, performance.timeOrigin + performance.now());
  });
  await stream.over;
  return { id: task.id, arrived };
} // prettier-ignore

async function waysOf(world, { id, arrived }) {
  const text = 'SELECT seq, extract(epoch FROM created_at)::float8 * 1000 AS ms FROM task_events WHERE task_id = $1';
  const { rows } = await world.db.query(text, [id]);
  return rows.flatMap(({ seq, ms }) => (arrived.has(seq) ? [arrived.get(seq) - ms] : []));
}

/** Resolves when it is open; `heard` is given each frame. */
function openStream(url, key, heard = () => undefined) {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { accept: 'text/event-stream', authorization: `Bearer ${key}` }, agent: false });
    call.on('error', reject);
    call.once('response', (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`${url}: ${answer.statusCode}`));
      let rest = '';
      answer.setEncoding('utf8').on('error', () => undefined);
      answer.on('data', (text) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop();
        for (const block of blocks) {
          const data = block.split('\n').find((line) => line.startsWith('data:'));
          if (data !== undefined) heard(JSON.parse(data.slice(5)));
        }
      });
      const over = new Promise((done) => answer.once('close', done));
      resolve({ over, end: () => answer.destroy() });
    });
    call.end();
  });
} // prettier-ignore
