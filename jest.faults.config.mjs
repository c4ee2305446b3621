// The fault suite (scripts/faults.mjs). One file at a time: each has a small installation to itself, and measures it.
import { common } from './jest.config.mjs';

export default {
  ...common,
  displayName: 'faults',
  testMatch: ['<rootDir>/test/faults/**/*.spec.ts'],
  globalSetup: '<rootDir>/test/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
  maxWorkers: 1,
  testTimeout: 30_000,
};
