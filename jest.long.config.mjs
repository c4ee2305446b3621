// The suites that take minutes (scripts/long.mjs). They wait more than they compute, so two at a time.
import { common, onPostgres } from './jest.config.mjs';

const suite = (name) => ({
  ...common,
  ...onPostgres,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
});

export default { maxWorkers: 2, testTimeout: 30_000, projects: [suite('faults'), suite('fuzz')] };
