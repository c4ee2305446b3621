// npm run test:redis: the suites whose behaviour passes through signals or limits, with a real Redis under every service
// that does not choose its own. Arguments go to Jest.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import standard from '../jest.config.mjs';
import { freePort } from './free-port.mjs';
import { jest } from './jest.mjs';
import { ROOT, main, prepare } from './setup.mjs';

const SUITES = [
  'e2e/approvals',
  'e2e/cancel',
  'e2e/idempotency',
  'e2e/idempotency-duplicates',
  'e2e/interactions',
  'e2e/jobs',
  'e2e/message-interrupt',
  'e2e/rate-limit-addresses',
  'e2e/rate-limits',
  'e2e/recovery',
  'e2e/tasks',
  'processes/approvals',
];
/** One for each database of the tests, and one that gives out the numbers. */
const DATABASES = 10_000;

await main(async () => {
  await prepare();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'millwright-redis-'));
  const words = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder, '--databases', DATABASES];
  const redis = spawn('redis-server', words.map(String), { stdio: 'ignore' });
  const ended = once(redis, 'exit');
  try {
    await Promise.race([answers(port), ended.then(() => Promise.reject(new Error('redis-server ended.')))]);
    process.exitCode = await tests(port);
    const scripts = await countScripts(port);
    console.error(`Redis carried out ${scripts} decisions of limits and signals.`);
    // A pass that went by it proves nothing.
    if (scripts === 0) process.exitCode = 1;
  } finally {
    redis.kill('SIGKILL');
    await ended.catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
});

function tests(port) {
  const gone = SUITES.filter((name) => !existsSync(join(ROOT, 'test', `${name}.spec.ts`)));
  if (gone.length > 0) throw new Error(`There is no suite ${gone.join(', ')} in test.`);
  const pattern = `test/(${SUITES.join('|')})\\.spec`;
  const projects = ['--selectProjects=e2e', '--selectProjects=processes'];
  const words = [
    '--config=jest.long.config.mjs',
    `--maxWorkers=${standard.maxWorkers}`,
    `--testPathPatterns=${pattern}`,
    ...process.argv.slice(2),
    ...projects,
  ];
  return jest(words, { MILLWRIGHT_TEST_REDIS: `redis://127.0.0.1:${port}` });
}

/** Resolves when Redis takes connections. */
async function answers(port) {
  for (let tries = 0; tries < 500; tries++) {
    try {
      return await ask(port, (redis) => redis.ping());
    } catch {
      await wait(20);
    }
  }
  throw new Error('redis-server does not answer.');
}

/** Bull and the limits call their scripts by hash; the harness gives out its numbers in another way. */
async function countScripts(port) {
  const text = await ask(port, (redis) => redis.info('commandstats'));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(text)?.[1] ?? 0);
}

async function ask(port, question) {
  // Not at the top: in a clean clone `prepare` installs it first.
  const { Redis } = await import('ioredis');
  const redis = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
