// Whether the service costs what it did: its CPU and its memory as shares of a floor's in the same run, against the recorded shares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startModel } from './agent.mjs';
import { inRounds, load, table } from './figures.mjs';
import { World } from './servers.mjs';
import { many, taker } from './tasks.mjs';

const RECORDED = fileURLToPath(new URL('./recorded.json', import.meta.url));
const BURN = fileURLToPath(new URL('./burn.mjs', import.meta.url));
/** Of the recorded share. */
const MOST = 1.1;
const TRIES = 3;
const ROUNDS = 5;
const WARM = 4000;
const STEPS = 'Write. turns=10 tool=write';
const FIGURES = { get: 'CPU of a GET', step: 'CPU of a task of ten steps', memory: 'memory after both' };

/**
 * Resolves with whether each figure was at most {@link MOST} of the recorded one in one of {@link TRIES} tries: other work on the machine makes a
 * share larger and hardly ever smaller. Prints the best of each. With `record` it writes them down instead.
 * @param burn milliseconds of CPU that are added to each request and each step, to see the gate shut.
 */
export async function gate({ record = false, burn = 0 }) {
  const recorded = record ? null : JSON.parse(readFileSync(RECORDED, 'utf8'));
  const best = {};
  const over = () => Object.keys(FIGURES).filter((name) => recorded === null || !(best[name] <= recorded[name] * MOST));
  for (let tries = 0; tries < TRIES && over().length > 0; tries++) {
    const shares = await measured(burn);
    for (const name of Object.keys(FIGURES)) best[name] = Math.min(best[name] ?? Infinity, shares[name]);
  }
  const shown = Object.entries(FIGURES).map(([name, subject]) => ({
    subject,
    'of the floor': best[name],
    recorded: recorded?.[name] ?? null,
    allowed: recorded === null ? null : recorded[name] * MOST,
  }));
  console.log(table('What the service costs', shown));
  if (record) writeFileSync(RECORDED, `${JSON.stringify(best, null, 2)}\n`);
  else for (const name of over()) console.log(`Over: ${FIGURES[name]}.`);
  return record || over().length === 0;
}

/** Shares of the floor, of new processes. */
async function measured(burn) {
  const world = await World.open({ tasks: 5000 });
  const model = await startModel();
  const programs = [model];
  try {
    const reading = await world.floor('nestfull', { KEY: world.key });
    const working = await world.floor('agent', { MODEL_URL: model.env.OPENAI_COMPATIBLE_URL });
    const flags = burn > 0 ? [`--import=${BURN}`] : [];
    const service = await world.service({ ...model.env, BENCH_BURN_MS: String(burn) }, flags);
    programs.push(reading, working, service);
    const get = reads(world, { floor: reading, service });
    const step = tasks(world, { floor: working, service });
    for (const one of [...Object.values(get), ...Object.values(step)]) await one({ warm: true });
    const [read, worked] = [await inRounds(get, ROUNDS), await inRounds(step, ROUNDS)];
    return {
      get: read.service.cpuMicros / read.floor.cpuMicros,
      step: worked.service.cpu / worked.floor.cpu,
      memory: service.residentMiB / working.residentMiB,
    };
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    await world.close();
  }
}

/** By subject, a function that asks for one task again and again. */
function reads({ ids, key }, { floor, service }) {
  const headers = { authorization: `Bearer ${key}` };
  const ask = (program, path) => {
    return ({ warm = false } = {}) =>
      load(program, { url: `${program.origin}${path}`, headers, connections: 32, amount: warm ? WARM : 3000 });
  };
  return { floor: ask(floor, `/tasks/${ids.floorTask}`), service: ask(service, `/v1/tasks/${ids.task}`) };
}

/** By subject, a function that has tasks of ten steps done, 16 at once. */
function tasks(world, { floor, service }) {
  const work = (program, perform) => async () => {
    const before = program.cpu;
    await many(perform, 48, 16, STEPS);
    return { cpu: program.cpu - before };
  };
  return {
    floor: work(floor, taker(world, floor.origin, { floor: true })),
    service: work(service, taker(world, service.origin)),
  };
}
