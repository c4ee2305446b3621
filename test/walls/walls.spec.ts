import { describeWithRedis } from '../harness/redis.js';
import { LONG } from '../harness/numbers.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from './attack.js';
import { ATTACKS } from './attacks.js';
import { boundsOf, LIMITS } from './bounds.js';
import { type Figures, mib, readsAndTasks, tableOf } from './table.js';
import type { TenantA } from './tenant-a.js';
import type { Usage } from './usage.js';
import { World } from './world.js';

const TRIED = ATTACKS.filter(({ longAlone }) => LONG || longAlone === undefined);

/** The other tenant alone, before the first attack. */
const IDLE_SECONDS = LONG ? 30 : 3;
/** The long form sends waves for so long, each attack alone and then all of them together. */
const ALONE_SECONDS = 20;
const TOGETHER_SECONDS = 180;

describeWithRedis('One tenant does all it may, and another one goes on', () => {
  let world: World;
  const rows: Figures[] = [];

  beforeAll(async () => {
    world = await World.start(ATTACKS);
    await measured('nothing', () => wait(IDLE_SECONDS * 1000));
  }, 300_000);
  afterAll(async () => {
    process.stderr.write(`${tableOf(rows)}\n`);
    await world?.close();
  });

  for (const attack of TRIED) {
    it(`${attack.name}: ${attack.what}`, () => attackedBy([attack], LONG ? ALONE_SECONDS : 0), 600_000);
  }

  (LONG ? it : it.skip)('all of it together', () => attackedBy(ATTACKS, TOGETHER_SECONDS), 1_200_000);

  async function attackedBy(attacks: Attack[], seconds: number): Promise<void> {
    const title = attacks.length === 1 ? (attacks[0]?.name ?? '') : 'together';
    await world.revive();
    await world.bystander.calm();
    const tenants = new Map(attacks.map((attack) => [attack, world.attacker(attack.name)]));
    try {
      const act = async (from: number) => {
        await Promise.all([...tenants].map(([attack, tenant]) => waves(attack, tenant, from + seconds * 1000)));
      };
      const row = await measured(title, act, [...tenants.values()]);
      expect(row.wrongs).toEqual([]);
      expect(row.over).toEqual([]);
      await Promise.all([...tenants.values()].map((tenant) => tenant.tidy()));
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

  /** Resolves with its row of the table when the other tenant has its answers; a failure of the attack is one of the wrongs. */
  async function measured(
    attack: string,
    act: (from: number) => Promise<unknown>,
    tenants: TenantA[] = [],
  ): Promise<Figures> {
    const { watch, bystander } = world;
    const tasks = () => tenants.flatMap(({ created }) => created);
    const before = await watch.begin(tasks);
    await world.standstill();
    const from = Date.now();
    const failed = await act(from).then(() => [], messageOf);
    await watch.look();
    const to = Date.now();
    const late = await bystander
      .calm()
      .then(() => world.fired())
      .then(() => [], messageOf);
    const kept = (await watch.look()).stored - before.stored;
    const most = { ...watch.most, stored: watch.most.stored - before.stored };
    const wrongs = [...failed, ...late, ...(await world.wrongs(from))].slice(0, 20);
    const circumstances = {
      processes: 2,
      tasks: tasks().length,
      workspaces: tenants.length,
      // From the first one every attack has some connection.
      addresses: new Set(['127.0.0.1', ...tenants.flatMap((tenant) => [...tenant.addresses])]).size,
      groups: world.groups,
    };
    const row = {
      attack,
      seconds: (to - from) / 1000,
      wrongs,
      ...readsAndTasks(bystander.requests, bystander.tasks, { from, to }),
      ...(await world.late(from)),
      ...(await world.standstill()),
      most,
      over: overBounds({ ...most, stored: kept }, boundsOf(circumstances)),
      answers: answersOf(tenants),
    };
    rows.push(row);
    return row;
  }
});

const messageOf = (error: Error) => [error.message];

function answersOf(tenants: TenantA[]): string {
  const statuses = new Map<number, number>();
  for (const tenant of tenants)
    tenant.statuses.forEach((count, status) => statuses.set(status, (statuses.get(status) ?? 0) + count));
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status} × ${count}`)
    .join(', ');
}

/** Which figures are over their bound, in words. */
function overBounds(most: Usage, bounds: Usage): string[] {
  const names = Object.keys(bounds) as (keyof Usage)[];
  const shown = (name: keyof Usage, figure: number) => (name === 'descriptors' ? figure : `${mib(figure)} MiB`);
  return names
    .filter((name) => most[name] > bounds[name])
    .map((name) => `${name}: ${shown(name, most[name])}, allowed are ${shown(name, bounds[name])}`);
}
