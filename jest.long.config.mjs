// The suites that take minutes (scripts/long.mjs), and the pass on Redis (scripts/test-redis.mjs).
import { common, onPostgres } from './jest.config.mjs';

const suite = (name) => ({
  ...common,
  ...onPostgres,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
  ...(['processes', 'faults'].includes(name) && {
    setupFilesAfterEnv: ['<rootDir>/test/harness/told-at-the-end.ts'],
  }),
});

export default {
  // They wait more than they compute, and each has several processes: three at a time use up the connections of the server.
  maxWorkers: 2,
  testTimeout: 90_000,
  testSequencer: '<rootDir>/test/harness/longest-first.mjs',
  projects: ['e2e', 'processes', 'faults', 'walls', 'automations', 'fuzz', 'console'].map(suite),
};
