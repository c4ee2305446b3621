// Boot time and memory of one process that serves and works.
import { setTimeout as delay } from 'node:timers/promises';
import { startModel } from './agent.mjs';
import { inRounds } from './figures.mjs';
import { many, taker } from './tasks.mjs';

const IDLE_MS = 1000;

export async function boot(world, { rounds }) {
  const model = await startModel();
  try {
    const { all } = await inRounds({ all: () => once(world, model.env) }, rounds);
    return [{ subject: 'all', ...all }];
  } finally {
    await model.stop();
  }
}

async function once(world, env) {
  const service = await world.service(env);
  const cpu = service.cpu * 1000;
  try {
    await delay(IDLE_MS);
    const started = service.residentMiB;
    const perform = taker(world, service.origin);
    await many(perform, 3, 1, 'Write. turns=1 tool=write');
    const idle = service.residentMiB;
    let peak = idle;
    const look = setInterval(() => (peak = Math.max(peak, service.residentMiB)), 100);
    await many(perform, 64, 16, 'Write. turns=10 tool=write').finally(() => clearInterval(look));
    return {
      'boot ms': service.bootMs,
      'boot CPU ms': cpu,
      'MiB after start': started,
      'MiB after 3 tasks': idle,
      'MiB at 16 tasks': peak,
    };
  } finally {
    await service.stop();
  }
}
