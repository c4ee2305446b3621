// The suites that take minutes (scripts/long.mjs). One file at a time: each measures what it has to itself.
import { common, onPostgres } from './jest.config.mjs';

const suite = (name) => ({
  ...common,
  ...onPostgres,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
});

export default { maxWorkers: 1, testTimeout: 30_000, projects: [suite('faults'), suite('fuzz')] };
