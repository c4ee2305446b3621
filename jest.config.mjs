import { availableParallelism } from 'node:os';

// ES modules need `node --experimental-vm-modules` (scripts/test.mjs sets it). globalSetup is plain .mjs that imports
// `dist/`, because Jest loads a TypeScript one as CommonJS; so `npm test` builds first.
export const common = {
  // Not the checkout as a whole: Jest would walk through a data folder in it.
  roots: ['<rootDir>/src', '<rootDir>/test'],
  extensionsToTreatAsEsm: ['.ts'],
  // By its own name the package is what was built; a test is about the sources.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1', '^millwright$': '<rootDir>/src/index.ts' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  testEnvironment: 'node',
};

export const onPostgres = {
  globalSetup: '<rootDir>/test/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
};

export default {
  // Memory grows by about 26 MB a test file under ESM Jest; recycle the worker before it matters.
  workerIdleMemoryLimit: '400MB',
  // Jest's own choice is one less than there are cores. The suites wait for others: two on two cores left a quarter of them idle.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 90_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/src/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/src/extensions/'],
    },
    {
      ...common,
      displayName: 'e2e',
      // Those of an enterprise team's extension boot the service too.
      testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/src/extensions/**/*.spec.ts'],
      // They take minutes: jest.long.config.mjs.
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(processes|faults|walls|automations|fuzz)/'],
      ...onPostgres,
    },
  ],
};
