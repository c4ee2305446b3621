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
    const title = attacks.length === 1 ? (attacks[0]?.name ?? '') : 'together';
    await world.revive();
    await world.bystander.calm();
    const tenants = new Map(attacks.map((attack) => [attack, world.attacker(attack.name)]));
    try {
      const row = await measured(title, async (from) => {
        await Promise.all([...tenants].map(([attack, tenant]) => waves(attack, tenant, from + seconds * 1000)));
      });
      expect(row.wrongs).toEqual([]);
      expect(over(row.most, boundsOf(world.processes.size, false))).toEqual([]);
      await tidied([...tenants.values()]);
    } catch (error) {
      await world.replace();
      throw error;
    } finally {
      tenants.forEach((tenant) => tenant.close());
    }
  }

  /** Does it once, and again until the time is over. */
  async function waves({ wave }: Attack, tenant: TenantA, end: number): Promise<void> {
    do await wave(tenant, LIMITS);
    while (Date.now() < end);
  }

  async function tidied(tenants: TenantA[]): Promise<void> {
    await Promise.all(tenants.map((tenant) => tenant.tidy()));
    await world.swept(tenants.flatMap(({ created }) => created));
  }

  /** Resolves with its row of the table when the other tenant has its answers; a failure of the attack is one of the wrongs. */
  async function measured(attack: string, act: (from: number) => Promise<unknown>): Promise<Figures> {
    const before = await world.watch.begin();
    const from = Date.now();
    const failed = await act(from).then(
      () => [],
      (error: Error) => [error.message],
    );
    await world.watch.look();
    const to = Date.now();
    const late = await world.bystander.calm().then(
      () => [],
      (error: Error) => [error.message],
    );
    const most = { ...world.watch.most, disk: world.watch.most.disk - before.disk };
    const { requests, tasks } = world.bystander;
    const wrongs = [...failed, ...late, ...(await world.wrongs(from))].slice(0, 20);
    const times = readsAndTasks(requests, tasks, { from, to });
    const row = { attack, seconds: (to - from) / 1000, wrongs, ...times, ...world.standstill(from), most };
    rows.push(row);
    return row;
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
