// What a step of the agent costs beside the floor's: the model answers at once, the tool works in the process.
import { fileURLToPath } from 'node:url';
import { inRounds, median, percentile } from './figures.mjs';
import { freePort } from '../scripts/free-port.mjs';
import { Program } from './processes.mjs';
import { many, taker } from './tasks.mjs';

const TURNS = 10;

/** A model server; `env` makes the service use it. */
export async function startModel() {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const file = fileURLToPath(new URL('./model.mjs', import.meta.url));
  const program = await Program.node(file, { env: { PORT: String(port) }, url: origin });
  return Object.assign(program, { env: { OPENAI_COMPATIBLE_URL: `${origin}/v1`, OPENAI_COMPATIBLE_MODEL: 'fake' } });
}

/** Tasks of no and of ten turns, one at a time and 16 at once; and five steps on three workers. */
export async function agent(world, { rounds }) {
  const model = await startModel();
  const programs = [model];
  try {
    const floor = await world.floor('agent', { MODEL_URL: model.env.OPENAI_COMPATIBLE_URL });
    const all = await world.service(model.env);
    programs.push(floor, all);
    const rows = [
      ...(await steps('floor', [floor], taker(world, floor.origin, { floor: true }), rounds)),
      ...(await steps('all', [all], taker(world, all.origin), rounds)),
    ];
    await all.stop();
    return [...rows, ...(await quiet(world, model, { floor, programs, rounds }))];
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

async function steps(name, programs, perform, rounds) {
  const cell = (turns, atOnce, count) => () => measure(programs, perform, { turns, atOnce, count });
  await cell(TURNS, 4, 20)();
  const figures = await inRounds(
    { 0: cell(0, 1, 20), [`${TURNS}`]: cell(TURNS, 1, 8), '0 ': cell(0, 16, 160), [`${TURNS} `]: cell(TURNS, 16, 64) },
    rounds,
  );
  return Object.entries(figures).map(([turns, row]) => {
    const none = figures[turns.endsWith(' ') ? '0 ' : '0'];
    const share = (key) => (Number(turns) === 0 ? null : (row[key] - none[key]) / TURNS);
    return { subject: name, turns: Number(turns), 'at once': turns.endsWith(' ') ? 16 : 1, ...shown(row, share) };
  });
}

/** The crash loop's load without the crashes: one process for HTTP, three that work, five steps a task. */
async function quiet(world, model, { floor, programs, rounds }) {
  const api = await world.service({ ...model.env, ROLE: 'api' });
  const workers = await Promise.all([1, 2, 3].map(() => world.service({ ...model.env, ROLE: 'worker' })));
  const service = [api, ...workers];
  programs.push(...service);
  const load = { turns: 4, atOnce: 32, count: 300 };
  const cells = {
    floor: () => measure([floor], taker(world, floor.origin, { floor: true }), load),
    'api, 3 workers': () => measure(service, taker(world, api.origin), load),
  };
  for (const warm of Object.values(cells)) await warm();
  const figures = await inRounds(cells, rounds);
  return Object.entries(figures).map(([subject, row]) => {
    return { subject, turns: load.turns, 'at once': load.atOnce, ...shown(row, () => null) };
  });
}

async function measure(programs, perform, { turns, atOnce, count }) {
  const cpu = () => programs.reduce((sum, program) => sum + program.cpu, 0);
  const before = cpu();
  const { each, wall } = await many(perform, count, atOnce, `Write. turns=${turns} tool=write`);
  return {
    p50: median(each),
    p99: percentile(each, 0.99),
    perSecond: count / (wall / 1000),
    cpuMs: ((cpu() - before) * 1000) / count,
  };
}

function shown({ p50, p99, perSecond, cpuMs, load }, share) {
  return {
    'p50 ms': p50,
    'p99 ms': p99,
    'tasks/s': perSecond,
    'CPU ms': cpuMs,
    'ms/step': share('p50'),
    'CPU ms/step': share('cpuMs'),
    load,
  };
}

const PAIRS = {
  'all, Redis': [{ ROLE: 'all' }],
  'all, no Redis': [{ ROLE: 'all', REDIS_URL: null }],
  'api + worker, Redis': [{ ROLE: 'api' }, { ROLE: 'worker' }],
  'api + worker, no Redis': [
    { ROLE: 'api', REDIS_URL: null },
    { ROLE: 'worker', REDIS_URL: null },
  ],
};

/** From the begin of the creating transaction to the claim, by the database's clock, on a system that does nothing else. */
export async function starts(world, { rounds }) {
  const subjects = Object.entries(PAIRS).map(([name, roles]) => [name, () => started(world, roles)]);
  const figures = await inRounds(Object.fromEntries(subjects), rounds);
  return Object.entries(figures).map(([subject, row]) => ({ subject, ...row }));
}

async function started(world, roles) {
  const services = await Promise.all(roles.map((env) => world.service(env)));
  try {
    const perform = taker(world, services[0].origin);
    await many(perform, 5, 1, 'Nothing.');
    const { ids } = await many(perform, 40, 1, 'Nothing.');
    const { rows } = await world.db.query(
      `SELECT extract(epoch FROM r.claimed_at - t.created_at)::float8 * 1000 AS ms FROM tasks t JOIN runs r ON r.task_id = t.id
       WHERE t.id = ANY($1)`,
      [ids],
    );
    const all = rows.map(({ ms }) => ms);
    return { 'p50 ms': median(all), 'p99 ms': percentile(all, 0.99) };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}
