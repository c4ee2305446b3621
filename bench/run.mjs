// npm run bench [-- http|messages|create|mcp|start|agent|engine|streams|boot|console …] [--rounds 3] [--seconds 5] [--connections 32] [--json]
// npm run bench -- against REF [routes|steps|boot|create …] [--rounds 9]
// npm run bench -- gate [--record]
// npm run bench -- grow [part of a route's name …] [--tasks 200000] [--rounds 9]
// npm run bench -- simulate [--workers 1,10,30,100] [--seconds 30] [--think 1000] [--rate 2] [--places 16] [--turns 4] [--without-redis]
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { against } from './against.mjs';
import { agent, starts } from './agent.mjs';
import { boot } from './boot.mjs';
import { views } from './console.mjs';
import { engine } from './engine.mjs';
import { table } from './figures.mjs';
import { gate } from './gate.mjs';
import { grow } from './grow.mjs';
import { creates, messages, reads } from './http.mjs';
import { throughMcp } from './mcp.mjs';
import { World } from './servers.mjs';
import { streams } from './streams.mjs';

const COMMANDS = {
  http: { title: 'GET /v1/tasks/{id}, with key, limits and scopes', measure: reads },
  messages: { title: 'GET messages of a task with 22 rows', measure: messages },
  create: { title: 'POST /v1/tasks with an Idempotency-Key, 16 connections', measure: creates },
  mcp: { title: 'get_task of POST /mcp beside its route, one connection', measure: throughMcp },
  start: { title: 'queued → running, one task at a time', measure: starts },
  agent: { title: 'Tasks with a model that does not think', measure: agent },
  engine: { title: 'Steps of agent programs as engines, beside the programs alone', measure: engine },
  streams: {
    title: 'Streams of events: 1,000 idle ones; from the transaction of an event to the client',
    measure: streams,
  },
  boot: { title: 'Boot to the first 200 on a migrated database, and memory', measure: boot },
  // Last: it needs a browser.
  console: { title: 'The page of a long task in Chromium', measure: views },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
    tasks: { type: 'string' },
    workers: { type: 'string' },
    think: { type: 'string' },
    rate: { type: 'string' },
    places: { type: 'string' },
    turns: { type: 'string' },
    'without-redis': { type: 'boolean', default: false },
    spoil: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    burn: { type: 'string', default: '0' },
  },
});
const numbers = ['rounds', 'seconds', 'connections', 'tasks', 'think', 'rate', 'places', 'turns'].filter(
  (name) => values[name] !== undefined,
);
const options = Object.fromEntries(numbers.map((name) => [name, Number(values[name])]));
// What its children are is removed at the end of the process, and its folders at the end of the run.
if (positionals[0] === 'against') {
  const [, ref, ...parts] = positionals;
  await against(ref, { rounds: 9, ...options, parts });
  process.exit();
}
if (positionals[0] === 'grow') {
  const [, ...only] = positionals;
  await grow({ ...options, only });
  process.exit();
}
if (positionals[0] === 'gate') {
  const open = await gate({ record: values.record, burn: Number(values.burn) });
  process.exit(open ? 0 : 1);
}
if (positionals[0] === 'simulate') {
  const { simulate } = await import('./simulate.mjs');
  const workers = values.workers?.split(',').map(Number);
  const well = await simulate({
    ...options,
    ...(workers && { workers }),
    redis: !values['without-redis'],
    spoil: values.spoil,
    json: values.json,
  });
  process.exit(well ? 0 : 1);
}
const names = positionals.length === 0 ? Object.keys(COMMANDS) : positionals;
const unknown = names.find((name) => COMMANDS[name] === undefined);
if (unknown !== undefined) throw new Error(`${unknown} is not known; there are ${Object.keys(COMMANDS).join(', ')}.`);

const opening = World.open();
const close = async () => (await opening).close();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close().finally(() => process.exit(130)));
const results = {};
try {
  const world = await opening;
  for (const name of names) {
    const { title, measure } = COMMANDS[name];
    results[name] = await measure(world, { rounds: 3, seconds: 5, ...options });
    if (!values.json) console.log(table(title, results[name]));
  }
  if (values.json) console.log(JSON.stringify({ at: new Date().toISOString(), node: process.version, results }));
  else console.log(`\nLoad average now ${loadavg()[0].toFixed(2)}. Compare ratios, not figures of different days.`);
} finally {
  await close();
}
