import { setTimeout as wait } from 'node:timers/promises';
import { LONG } from '../harness/numbers.js';
import { PostgresServer } from '../harness/postgres.js';
import type { ServiceProcess } from '../harness/service.js';
import { expectTold } from '../harness/told.js';
import { until } from '../harness/until.js';
import { buildEarlier, EARLIER, type EarlierBuild, hasEarlier } from './earlier-build.js';
import { type Refusal, send, watch } from './load.js';
import { type Order, orders } from './orders.js';
import { report } from './report.js';
import { settled } from './settled.js';
import { expectWhole } from './verdict.js';
import { DIST, World } from './world.js';

/** Tasks of one wave; each phase sends waves until it is over. */
const TASKS = LONG ? 400 : 20;

// CI has the history: there it is never left out.
const known = hasEarlier() || process.env['CI'] === 'true';
if (!known) report(`skipped: the history of this checkout does not have ${EARLIER}, from which the upgrade begins`);

(known ? describe : describe.skip)('A rolling upgrade and its rollback (docs/operating.md, "Upgrades")', () => {
  let earlier: EarlierBuild | undefined;
  let database: PostgresServer;
  let world: World;
  const load: Order[] = [];
  const refusals: Refusal[] = [];

  beforeAll(async () => {
    earlier = await buildEarlier();
    // Without tables, and with connections for both sides.
    database = await PostgresServer.start(['max_connections=500']);
    world = await World.start({ databaseUrl: database.url, workers: 2, dist: earlier.dist });
  }, 600_000);
  afterAll(async () => {
    await world?.close();
    await database?.stop();
    earlier?.remove();
  });

  it('old and new processes serve and work side by side on one database: no request fails, nothing is lost, no step is doubled', async () => {
    const before = earlier?.dist ?? '';
    const over = new AbortController();
    const loaded = Promise.all([watch(world, over.signal, refusals), sendUntil(over.signal)]);
    try {
      const old = sides(world.apis, world.workers);
      await working(old);

      const added = await start(DIST);
      await working(old, added);
      await stop(old);
      await working(added);

      const back = await start(before);
      await working(added, back);
      await stop(added);
      await working(back);
    } catch (error) {
      report(`the processes said last:\n${world.log}`);
      throw error;
    } finally {
      over.abort();
      await loaded;
    }
    await settled(database, 'upgrade');
    report(`${load.length} tasks over an upgrade from ${EARLIER.slice(0, 8)} and its rollback`);
    expect(refusals).toEqual([]);
    await expectWhole(database, world, 'upgrade', load);
    await expectTold(database);
  }, 3_600_000);

  async function sendUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wave = orders(`upgrade-${load.length}`, TASKS);
      load.push(...wave);
      await send(world, wave, 2, refusals);
      await settled(database, 'upgrade');
    }
  }

  /** One process of the API and two workers beside those that are there. */
  async function start(dist: string): Promise<Side> {
    const first = world.workers.length;
    await Promise.all([world.startWorker(first, dist), world.startWorker(first + 1, dist)]);
    const api = await world.startApi(dist);
    await until('its workers to be up', () => world.workers.slice(first).every((worker) => world.isUp(worker)), { within: 120_000 }); // prettier-ignore
    world.apis.push(api);
    return sides([api], world.workers.slice(first));
  }

  /** As an orchestrator does: first no more requests come, then the process is told to stop. */
  async function stop({ apis, workers }: Side): Promise<void> {
    world.apis = world.apis.filter((api) => !apis.includes(api));
    // A request that has chosen its process is not sent yet.
    await wait(200);
    const codes = await Promise.all([...apis, ...workers].map((process) => process.end('SIGTERM')));
    expect(codes).toEqual(codes.map(() => 0));
  }
});

interface Side {
  apis: ServiceProcess[];
  workers: ServiceProcess[];
}
const sides = (apis: ServiceProcess[], workers: ServiceProcess[]): Side => ({ apis: [...apis], workers: [...workers] });

/** Resolves when each of these sides has answered requests and ended runs since now. */
async function working(...all: Side[]): Promise<void> {
  const done = async ({ apis, workers }: Side) => {
    const [answers, runs] = [
      await sumOf(apis, 'millwright_http_request_duration_seconds_count'),
      await sumOf(workers, 'millwright_runs_ended_total'),
    ];
    return { answers, runs };
  };
  const before = await Promise.all(all.map(done));
  const more = async () => {
    const after = await Promise.all(all.map(done));
    return after.every(({ answers, runs }, at) => answers >= (before[at]?.answers ?? 0) + 20 && runs >= (before[at]?.runs ?? 0) + 5); // prettier-ignore
  };
  await until('each side to answer requests and to end runs', more, { within: 120_000, every: 200 });
}

/** Of all lines of a figure, with whatever labels. */
async function sumOf(processes: ServiceProcess[], name: string): Promise<number> {
  const texts = await Promise.all(processes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
