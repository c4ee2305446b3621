import { readFileSync } from 'node:fs';
import { createDatabase } from '../harness/database.js';
import { RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';
import { send } from './load.js';
import { orderOf } from './orders.js';
import { World } from './world.js';

const cpu = (pid: number) => {
  const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(f[11]) + Number(f[12])) / 100;
};
it('measures', async () => {
  const db = await createDatabase();
  const redis = await RedisServer.start();
  const t0 = Date.now();
  const world = await World.start({ databaseUrl: db.url, redisUrl: redis.url, leaseSeconds: 12 });
  console.log('boot', Date.now() - t0);
  try {
    for (const kind of ['quick', 'quick', 'slow', 'shell'] as const) {
      const before = [world.api, ...world.workers].map((p) => cpu(p.child.pid ?? 0));
      const own = process.cpuUsage();
      const t = Date.now();
      const n = kind === 'quick' ? 600 : 100;
      await send(
        world,
        Array.from({ length: n }, (_, i) => orderOf(`${kind}-${t}-${i}`, kind, 100)),
      );
      const sent = Date.now() - t;
      await until(
        'all over',
        async () =>
          (await db.query<{ n: number }>(`SELECT count(*)::int n FROM tasks WHERE status IN ('queued','running')`))[0]
            ?.n === 0,
        { within: 100_000 },
      );
      const all = Date.now() - t;
      const after = [world.api, ...world.workers].map((p, i) => (cpu(p.child.pid ?? 0) - (before[i] ?? 0)).toFixed(2));
      const o = process.cpuUsage(own);
      console.log(
        kind,
        n,
        { sent, all, perSecond: (n / all) * 1000, cpu: after, own: (o.user + o.system) / 1e6 },
        await db.query('SELECT status, status_reason, count(*)::int, max(steps) FROM tasks GROUP BY 1, 2'),
      );
    }
  } finally {
    console.log(world.log.slice(0, 3000));
    await world.close();
    await redis.stop();
    await db.drop();
  }
}, 300_000);
