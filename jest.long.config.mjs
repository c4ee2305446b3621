// The suites that take minutes (scripts/long.mjs), and the pass on Redis (scripts/test-redis.mjs).
import { common, leftOut, onPostgres } from './jest.config.mjs';

/** Minutes each, of what other files touch too: only the long form (`-- --long`) has them, and a run that names one. */
const LONG_ALONE = {
  processes: ['main-thread', 'memory-in-s3', 'cancel-installations', 'many-tasks', 'image', 'logs-and-traces'],
  faults: ['crash-loop', 'controls', 'quiet', 'rolling-upgrade', 'engines'],
  console: [
    ...['typing', 'killed', 'following', 'webhooks', 'settings', 'composing', 'automation-repository', 'notices'],
    ...['repository-connections', 'repositories', 'integrations', 'budgets', 'cron'],
  ],
};
const alone = (name) => (process.env.MILLWRIGHT_LONG === '1' ? [] : (LONG_ALONE[name] ?? []));

const suite = (name) => ({
  ...common,
  ...onPostgres,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
  testPathIgnorePatterns: ['/node_modules/', ...leftOut(alone(name), `/test/${name}`)],
  ...(['processes', 'faults', 'machines'].includes(name) && {
    setupFilesAfterEnv: ['<rootDir>/test/harness/told-at-the-end.ts'],
  }),
});

export default {
  // They wait more than they compute, and each has several processes: three at a time use up the connections of the server.
  maxWorkers: 2,
  testTimeout: 240_000,
  testSequencer: '<rootDir>/test/harness/longest-first.mjs',
  projects: [
    'e2e',
    'processes',
    'faults',
    'walls',
    'secrets',
    'proof',
    'automations',
    'fuzz',
    'console',
    'machines',
    'python',
    'payment',
    'sign-in',
  ].map(suite),
};
