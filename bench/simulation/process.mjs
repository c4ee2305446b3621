// A process of the simulation: one or several workers, or the api. Each is the built service with the pools, loops and leases that it has
// in production, and a DATA_DIR of its own; only the process is shared. Talks with bench/simulate.mjs by messages.
import 'reflect-metadata';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { composeApp } from '../../dist/compose.js';
import { configureHttp } from '../../dist/platform/http/configure-http.js';
import { readEnv } from '../../dist/platform/config/env.js';
import { ExtensionSet } from '../../dist/platform/plugins/extension-set.js';
import { FencedWrites } from '../../dist/work/runs/fenced-writes.js';
import { RunClaims } from '../../dist/work/runs/run-claims.js';
import { RunSnapshots } from '../../dist/work/runs/run-snapshots.js';
import { simulatedParts, snapshotTaken } from './parts.mjs';

const { names, variables, turns, thinkMs } = JSON.parse(process.env.SIMULATION);

let figures = none();
function none() {
  return {
    claimMs: [],
    lookMs: [],
    writeMs: [],
    claimed: 0,
    lost: 0,
    looks: 0,
    emptyLooks: 0,
    renewals: 0,
    renewed: 0,
  };
}

/** How often the model has given an answer, by task and step. */
const answers = new Map();
const answered = (which) => answers.set(which, (answers.get(which) ?? 0) + 1);
const extensions = new ExtensionSet([simulatedParts({ turns, thinkMs, answered })]);

async function boot(name) {
  const source = { PATH: process.env.PATH, ...variables, DATA_DIR: join(variables.DATA_DIR, name) };
  const env = readEnv(source, extensions);
  class Simulated {}
  const module = { module: Simulated, ...composeApp(env, extensions) };
  const app = await NestFactory.create(module, { bodyParser: false, abortOnError: false, logger: ['error'] });
  configureHttp(app, env);
  if (env.runsWork) watch(app);
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Counts and times what the objects of the service do. */
function watch(app) {
  const claims = app.get(RunClaims, { strict: false });
  around(claims, 'claim', (ms, run) => {
    figures.claimMs.push(ms);
    figures[run === null ? 'lost' : 'claimed']++;
  });
  around(claims, 'queued', (ms, found) => {
    figures.lookMs.push(ms);
    figures.looks++;
    if (found.length === 0) figures.emptyLooks++;
  });
  around(claims, 'renew', (_ms, kept) => {
    figures.renewals++;
    figures.renewed += kept.size;
  });
  around(app.get(FencedWrites, { strict: false }), 'tried', (ms) => figures.writeMs.push(ms));
  Object.assign(app.get(RunSnapshots, { strict: false }), { taken: snapshotTaken });
}

function around(object, method, done) {
  const own = object[method].bind(object);
  object[method] = async (...given) => {
    const began = performance.now();
    const result = await own(...given);
    done(performance.now() - began, result);
    return result;
  };
}

const apps = [];
for (const name of names) apps.push(await boot(name));
const port = apps[0].getHttpServer().address().port;

process.on('message', async ({ ask }) => {
  if (ask === 'figures') {
    process.send(figures);
    figures = none();
  } else if (ask === 'answers') {
    process.send({ answers: [...answers] });
  }
});
process.once('SIGTERM', async () => {
  await Promise.all(apps.map((app) => app.close()));
  process.exit();
});
// Its parent is gone.
process.once('disconnect', () => process.exit(1));
process.send({ port });
