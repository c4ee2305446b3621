// This checkout beside another commit: both built services in turn, each on a database and a Redis of its own.
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startModel } from './agent.mjs';
import { median, percentile, requests, table } from './figures.mjs';
import { cpuOfTree } from './processes.mjs';
import { ROOT, World } from './servers.mjs';
import { many, taker } from './tasks.mjs';

const TURNS = 10;
/** In the tables of each: the indexes have levels, and two of them are seeded in seconds. */
const TASKS = 5000;
const PARTS = ['routes', 'steps', 'boot', 'create'];
const REDIS = { 'with Redis': {}, 'without Redis': { REDIS_URL: null } };
/** Compiled code before the first round. */
const WARM = 4000;
const WARM_TASKS = 320;
const SETTLE_MS = 1000;

/** What is asked of both. `amount` requests are about a second of CPU. */
const ROUTES = {
  'GET task': { path: ({ task }) => `/v1/tasks/${task}` },
  'auth context': { path: () => '/v1/auth/context' },
  'a project': { path: ({ project }) => `/v1/projects/${project}` },
  'messages (22)': { path: ({ task }) => `/v1/tasks/${task}/messages`, amount: 1500 },
  'no such path': { path: () => '/v1/nothing', status: 404 },
  'no such task': { path: () => '/v1/tasks/00000000-0000-4000-8000-000000000000', status: 404 },
  'unknown key': { path: ({ task }) => `/v1/tasks/${task}`, status: 401, key: `mw_${'x'.repeat(40)}` },
};

/**
 * Prints what both cost, each figure as the median of its rounds and each ratio as the median, lower and upper quartile of the ratios of the
 * rounds. @param ref a commit, or the folder of a checkout that is built.
 */
export async function against(ref, { parts, rounds, connections = 32 }) {
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (ref === undefined || unknown !== undefined) {
    throw new Error(`A commit or a built checkout is expected, then none or some of ${PARTS.join(', ')}.`);
  }
  const wanted = parts.length === 0 ? PARTS : parts;
  const other = await checkout(ref);
  const undo = [() => other.remove()];
  const close = async () => {
    for (const one of undo.splice(0).reverse()) await one();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close().finally(() => process.exit(130)));
  try {
    const here = await World.open({ tasks: TASKS });
    undo.push(() => here.close());
    const there = await World.open({ root: other.root, beside: here.databaseUrl, tasks: TASKS });
    undo.push(() => there.close());
    const model = await startModel();
    undo.push(() => model.stop());
    const bench = { sides: [there, here], model, rounds, connections };
    for (const side of bench.sides) await addProject(side);
    for (const [title, env] of Object.entries(REDIS)) {
      if (wanted.includes('routes') || wanted.includes('steps')) await loaded(bench, { wanted, title, env });
    }
    for (const [title, env] of Object.entries(REDIS)) {
      if (wanted.includes('boot')) print(`Boot, ${title}`, [await boots(bench, env)].flat());
    }
    // Last: nobody carries out what is created.
    for (const [title, env] of Object.entries(REDIS)) {
      if (wanted.includes('create')) print(`POST with a key, ROLE=api, ${title}`, [await creates(bench, env)]);
    }
  } finally {
    await close();
  }
}

function print(title, rows) {
  console.log(table(title, rows));
}

/** One process of each side: its memory at rest, then routes, then tasks. */
async function loaded({ sides, model, rounds, connections }, { wanted, title, env }) {
  const services = await started(sides, { ...model.env, ...env });
  try {
    await delay(SETTLE_MS);
    const memory = [ratio('MiB after start', [services.map(({ residentMiB }) => residentMiB)], ['MiB'])];
    const look = (what) => memory.push(ratio(what, [services.map(({ residentMiB }) => residentMiB)], ['MiB']));
    if (wanted.includes('routes')) {
      const rows = [];
      for (const [name, route] of Object.entries(ROUTES)) {
        const call = { connections, amount: 2500, ...route };
        await inTurn(sides, services, 1, (side, service) => asked(side, service, { ...call, amount: WARM }));
        rows.push(costs(name, await inTurn(sides, services, rounds, (side, one) => asked(side, one, call)), 'µs'));
      }
      print(`Requests, ROLE=all, ${title}`, rows);
      look('MiB after requests');
    }
    if (wanted.includes('steps')) {
      print(`Tasks, 16 at once, ROLE=all, ${title}`, await steps(sides, services, rounds));
      look('MiB after tasks');
    }
    print(`Memory, ${title}`, memory);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

/** A task of no and of ten turns; the difference is ten steps. */
async function steps(sides, services, rounds) {
  const takers = new Map(sides.map((side, n) => [side, taker(side, services[n].origin)]));
  const tasks = (turns, count) => (side, service) =>
    spent(side, service, count, 1e3, async () => {
      const { each, wall } = await many(takers.get(side), count, 16, `Write. turns=${turns} tool=write`);
      return { p50: median(each), perSecond: count / (wall / 1000) };
    });
  // A task without steps costs a quarter more until its code is compiled.
  for (const warm of [tasks(TURNS, 32), tasks(0, WARM_TASKS)]) await inTurn(sides, services, 1, warm);
  const none = await inTurn(sides, services, rounds, tasks(0, 160));
  const ten = await inTurn(sides, services, rounds, tasks(TURNS, 48));
  const step = (key) => ten.map((pair, n) => pair.map((one, side) => (one[key] - none[n][side][key]) / TURNS));
  return [
    costs('task, no step', none, 'ms'),
    costs(`task, ${TURNS} steps`, ten, 'ms'),
    costs('a step', zip({ cpu: step('cpu'), db: step('db'), p50: step('p50') }), 'ms'),
    ratio('tasks a second', perSecond(ten), ['tasks/s']),
  ];
}

const perSecond = (rounds) => rounds.map((pair) => pair.map((one) => one.perSecond));

function zip({ cpu, db, p50 }) {
  return cpu.map((pair, n) => pair.map((_, side) => ({ cpu: cpu[n][side], db: db[n][side], p50: p50[n][side] })));
}

async function boots({ sides }, env) {
  const rounds = [];
  for (let round = 0; round < 7; round++) {
    rounds.push(
      await inOrder(sides, round, async (side) => {
        const service = await side.service(env);
        const figures = { ms: service.bootMs, cpu: cpuOfTree(service.child.pid) * 1000 };
        await service.stop();
        return figures;
      }),
    );
  }
  // The first one of each reads its files from the disk.
  const warm = rounds.slice(1);
  return ['ms', 'cpu'].map((key) =>
    ratio(
      key === 'ms' ? 'ms to the first 200' : 'ms of CPU',
      warm.map((pair) => pair.map((one) => one[key])),
      ['ms'],
    ),
  );
}

async function creates({ sides, rounds }, env) {
  const services = await started(sides, { ROLE: 'api', ...env });
  try {
    const call = { path: () => '/v1/tasks', create: true, connections: 16, amount: 800 };
    await inTurn(sides, services, 1, (side, service) => asked(side, service, call));
    return costs('POST task', await inTurn(sides, services, rounds, (side, one) => asked(side, one, call)), 'µs');
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

function started(sides, env) {
  // One 401 after the other comes from this address.
  return Promise.all(sides.map((side) => side.service({ AUTH_FAILURES_PER_MINUTE: '1000000', ...env })));
}

/** `[there, here]` of each round; who begins changes, for what stands behind a round falls on the next one. */
async function inTurn(sides, services, rounds, measure) {
  const all = [];
  for (let round = 0; round < rounds; round++) {
    all.push(await inOrder(sides, round, (side, n) => measure(side, services[n])));
  }
  return all;
}

async function inOrder(sides, round, measure) {
  const pair = [];
  for (const n of round % 2 === 0 ? [0, 1] : [1, 0]) pair[n] = await measure(sides[n], n);
  return pair;
}

function asked(side, service, { path, key = side.key, amount, ...call }) {
  const url = `${service.origin}${path(side.ids)}`;
  const headers = { authorization: `Bearer ${key}` };
  return spent(side, service, amount, 1e6, () => requests({ url, headers, amount, ...call }));
}

/** CPU of a process tree and of the database for each of `count`, in the unit of which a second has `unit`. */
async function spent(side, service, count, unit, work) {
  const cpu = cpuOfTree(service.child.pid);
  const db = await side.databaseCpu();
  const figures = await work();
  const of = (after, before) => ((after - before) * unit) / count;
  return { ...figures, cpu: of(cpuOfTree(service.child.pid), cpu), db: of(await side.databaseCpu(), db) };
}

function costs(subject, rounds, unit) {
  const of = (key) => rounds.map((pair) => pair.map((one) => one[key]));
  return {
    ...ratio(subject, of('cpu'), [`CPU ${unit}`, 'CPU']),
    ...ratio(subject, of('db'), [`database ${unit}`, 'database']),
    ...ratio(subject, of('p50'), ['p50 ms', 'p50']),
  };
}

/** @param pairs `[there, here]` of each round. */
function ratio(subject, pairs, [unit, name = '']) {
  const shares = pairs.map(([there, here]) => here / there);
  const short = (number) => number.toFixed(2);
  const spread = `${short(percentile(shares, 0.25))}–${short(percentile(shares, 0.75))}`;
  return {
    subject,
    [`${unit} there`]: median(pairs.map(([there]) => there)),
    [`${unit} here`]: median(pairs.map(([, here]) => here)),
    [`${name} ratio`.trim()]: `${short(median(shares))} (${spread})`,
  };
}

async function addProject(side) {
  const api = await side.service({ ROLE: 'api' });
  try {
    const response = await fetch(`${api.origin}/v1/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${side.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Bench' }),
    });
    if (!response.ok) throw new Error(await response.text());
    side.ids.project = (await response.json()).project.id;
  } finally {
    await api.stop();
  }
}

/** A commit, built in a folder of its own; a folder is taken as it is. */
async function checkout(ref) {
  if (existsSync(join(ref, 'dist', 'main.js'))) return { root: resolve(ref), remove() {} };
  const root = mkdtempSync(join(tmpdir(), 'millwright-against-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    await unpack(ref, root);
    if (lockOf(root) === lockOf(ROOT)) await run('cp', ['-al', join(ROOT, 'node_modules'), root]);
    else await run('npm', ['ci', '--no-audit', '--no-fund'], root);
    await run('npx', ['--no-install', 'nest', 'build'], root);
    // The folder of the console, which is the same work for every commit, is not what is measured.
    if (existsSync(join(ROOT, 'dist-console')))
      cpSync(join(ROOT, 'dist-console'), join(root, 'dist-console'), { recursive: true });
    return { root, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

const lockOf = (root) => readFileSync(join(root, 'package-lock.json'), 'utf8');

async function unpack(ref, root) {
  const git = spawn('git', ['archive', ref], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-x', '-C', root], { stdio: [git.stdout, 'ignore', 'inherit'] });
  const codes = await Promise.all([once(git, 'exit'), once(tar, 'exit')]);
  if (codes.some(([code]) => code !== 0)) throw new Error(`${ref} is no commit of this repository.`);
}

async function run(command, args, cwd = ROOT) {
  console.log(`${command} ${args.join(' ')}`);
  await promisify(execFile)(command, args, { cwd, maxBuffer: 1 << 26 });
}
