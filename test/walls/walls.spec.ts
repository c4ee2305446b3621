import { describeWithRedis } from '../harness/redis.js';
import { LONG } from '../harness/numbers.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from './attack.js';
import { ATTACKS } from './attacks.js';
import { boundsOf, LIMITS, MIB } from './bounds.js';
import { type Figures, readsAndTasks, tableOf } from './table.js';
import type { TenantA } from './tenant-a.js';
import type { Usage } from './usage.js';
import { World } from './world.js';

/** The other tenant alone, before the first attack. */
const IDLE_SECONDS = LONG ? 30 : 3;
/** The long form sends waves for so long, each attack alone and then all of them together. */
const ALONE_SECONDS = 20;
const TOGETHER_SECONDS = 180;

describeWithRedis('One tenant does all it may, and another one goes on', () => {
  let world: World;
  const rows: Figures[] = [];

  beforeAll(async () => {
    world = await World.start(ATTACKS.map(({ name }) => name));
    await measured('nothing', () => wait(IDLE_SECONDS * 1000));
  }, 300_000);
  afterAll(async () => {
    process.stderr.write(`${tableOf(rows)}\nAllowed: ${words(boundsOf(2, false))}\n`);
    await world?.close();
  }, 120_000);

  for (const attack of ATTACKS) {
    it(`${attack.name}: ${attack.what}`, () => attackedBy([attack], LONG ? ALONE_SECONDS : 0), 600_000);
  }

  (LONG ? it : it.skip)('all of it together', () => attackedBy(ATTACKS, TOGETHER_SECONDS), 1_200_000);

  async function attackedBy(attacks: Attack[], seconds: number): Promise<void> {
    await world.revive();
    const since = Date.now();
    const tenants = new Map(attacks.map((attack) => [attack, world.attacker(attack.name)]));
    const title = attacks.length === 1 ? (attacks[0]?.name ?? '') : 'together';
    const most = await measured(title, async () => {
      await Promise.all([...tenants].map(([attack, tenant]) => waves(attack, tenant, since + seconds * 1000)));
    });
    for (const tenant of tenants.values()) {
      await tenant.tidy();
      tenant.close();
    }
    await world.bystander.calm().catch(() => undefined);
    const wrongs = await world.wrongs(since);
    const row = rows.at(-1);
    if (row !== undefined) row.failures = wrongs.length;
    expect(wrongs.slice(0, 10)).toEqual([]);
    expect(over(most, boundsOf(world.processes.size, false))).toEqual([]);
  }

  /** Does it once, and again until the time is over. */
  async function waves({ wave }: Attack, tenant: TenantA, until: number): Promise<void> {
    do await wave(tenant, LIMITS);
    while (Date.now() < until);
  }

  /** Adds a row to the table. Resolves with the most that was used meanwhile. */
  async function measured(attack: string, act: () => Promise<unknown>): Promise<Usage> {
    world.watch.begin();
    const from = Date.now();
    await act();
    await world.watch.look();
    const { most } = world.watch;
    const to = Date.now();
    // What the other tenant asked last is still under way.
    if (attack !== 'nothing') await wait(200);
    const { requests, tasks } = world.bystander;
    rows.push({
      attack,
      seconds: (to - from) / 1000,
      failures: 0,
      ...readsAndTasks(requests, tasks, { from, to }),
      ...world.standstill(from),
      most,
    });
    return most;
  }
});

/** Which figures are over their bound, in words. */
function over(most: Usage, bounds: Usage): string[] {
  const names = Object.keys(bounds) as (keyof Usage)[];
  return names.filter((name) => most[name] > bounds[name]).map((name) => `${name}: ${most[name]} of ${bounds[name]}`);
}

function words({ service, sandboxes, disk, descriptors }: Usage): string {
  const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  return `service ${mib(service)}, sandboxes ${mib(sandboxes)}, disk ${mib(disk)}, descriptors ${descriptors}`;
}
