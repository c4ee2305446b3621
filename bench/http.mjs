// Reads and creates under load: the service beside the floors, in alternating rounds.
import { inRounds, load } from './figures.mjs';

/** Requests, not seconds: on a busy machine two seconds would not do to have the code compiled. */
const WARM = 3000;

const bearer = (world) => ({ authorization: `Bearer ${world.key}` });

/** GET of one task with key, limits and scopes, beside the same looks on bare Nest and bare Express. */
export async function reads(world, options) {
  const programs = {
    nestfull: await world.floor('nestfull', { KEY: world.key }),
    express: await world.floor('express', { KEY: world.key }),
    api: await world.service({ ROLE: 'api' }),
    all: await world.service({ ROLE: 'all' }),
  };
  const urls = Object.fromEntries(
    Object.entries(programs).map(([name, { origin }]) => [name, `${origin}${pathOf(name, world.ids)}`]),
  );
  return compare(programs, urls, { ...options, headers: bearer(world) }, 'nestfull');
}

function pathOf(name, { task, floorTask }) {
  return name === 'api' || name === 'all' ? `/v1/tasks/${task}` : `/tasks/${floorTask}`;
}

/** GET of the messages of a task with 22 rows, beside the floor's read without key, limits and scopes. */
export async function messages(world, options) {
  const { task, floorTask } = world.ids;
  const programs = { agent: await world.floor('agent'), api: await world.service({ ROLE: 'api' }) };
  const urls = {
    agent: `${programs.agent.origin}/tasks/${floorTask}/messages`,
    api: `${programs.api.origin}/v1/tasks/${task}/messages`,
  };
  return compare(programs, urls, { ...options, headers: bearer(world) }, 'agent');
}

/** POST of a task with an Idempotency-Key, 16 at once, beside the floor's POST. No worker takes the tasks meanwhile. */
export async function creates(world, options) {
  const programs = { agent: await world.floor('agent'), api: await world.service({ ROLE: 'api' }) };
  const urls = { agent: `${programs.agent.origin}/tasks`, api: `${programs.api.origin}/v1/tasks` };
  return compare(programs, urls, { connections: 16, ...options, headers: bearer(world), create: true }, 'agent');
}

async function compare(programs, urls, { rounds, seconds, connections = 32, headers, create = false }, floor) {
  const stretch = (name, length) => load(programs[name], { url: urls[name], connections, headers, create, ...length });
  try {
    for (const name of Object.keys(programs)) await stretch(name, { amount: WARM });
    const subjects = Object.keys(programs).map((name) => [name, () => stretch(name, { seconds })]);
    return withRatios(await inRounds(Object.fromEntries(subjects), rounds), floor);
  } finally {
    await Promise.all(Object.values(programs).map((program) => program.stop()));
  }
}

/** What the goals are about: requests per second, CPU and p99 as shares of the floor's. */
function withRatios(figures, floor) {
  const base = figures[floor];
  return Object.entries(figures).map(([name, row]) => ({
    subject: name,
    'req/s': row.perSecond,
    'of floor': row.perSecond / base.perSecond,
    'p50 ms': row.p50,
    'p99 ms': row.p99,
    'p99 of floor': row.p99 / base.p99,
    'CPU µs': row.cpuMicros,
    'CPU of floor': row.cpuMicros / base.cpuMicros,
    bytes: row.bytes,
    load: row.load,
  }));
}
