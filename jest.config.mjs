import { availableParallelism } from 'node:os';

// ES modules need `node --experimental-vm-modules` (scripts/test.mjs sets it). globalSetup is plain .mjs that imports
// `dist/`, because Jest loads a TypeScript one as CommonJS; so `npm test` builds first.
export const common = {
  // Not the checkout as a whole: Jest would walk through a data folder in it.
  roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/packages/sdk/src', '<rootDir>/packages/cli/src'],
  extensionsToTreatAsEsm: ['.ts'],
  // By its own name the package is what was built; a test is about the sources.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^millwright$': '<rootDir>/src/index.ts',
    '^@millwright/(sdk|cli)$': '<rootDir>/packages/$1/src/index.ts',
    '^@millwright/sdk/node$': '<rootDir>/packages/sdk/src/node.ts',
  },
  transform: {
    '^.+\\.(ts|mjs)$': [
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
        // An import of a package is its namespace, as Node gives it: one-realm-runtime.mjs.
        module: { noInterop: true, ignoreDynamic: true },
      },
    ],
  },
  // Packages are loaded once for all files of a worker: docs/decisions/0065.
  testEnvironment: '<rootDir>/test/harness/jest/one-realm-environment.mjs',
  runtime: '<rootDir>/test/harness/jest/one-realm-runtime.mjs',
};

export const onPostgres = {
  globalSetup: '<rootDir>/test/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/test/harness/global-teardown.mjs',
};

/** A minute or more each, of what neighbours touch too: `npm run test:slow -- --long` has them, and a run that names one. */
export const LONG_ALONE = [
  ...[
    'repository-connections-of-tasks',
    'pull-request-state',
    'automation-repository',
    'files-in-s3',
    'storage-drivers',
  ],
  ...['player', 'forks-of-all-kinds', 'shown-files', 'results-for-models', 'storage-move', 'bucket-of-installation'],
];
const named = (file) => process.argv.slice(2).some((word) => word.includes(file));
/** Patterns of those of some files that this run does not name. */
export const leftOut = (files, folder = '') =>
  files.filter((file) => !named(file)).map((file) => `${folder}/${file}.spec.ts$`);

export default {
  // A file leaves next to nothing behind. A worker that has become large all the same ends, and its next file loads all packages again.
  workerIdleMemoryLimit: '700MB',
  // Jest's own choice is one less than there are cores. The suites wait for others: two on two cores left a quarter of them idle.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 240_000,
  testSequencer: '<rootDir>/test/harness/longest-first.mjs',
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/packages/*/src/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/src/extensions/'],
    },
    {
      ...common,
      displayName: 'e2e',
      // Those of an enterprise team's extension boot the service too.
      testMatch: ['<rootDir>/test/**/*.spec.ts', '<rootDir>/src/extensions/**/*.spec.ts'],
      // They take minutes: jest.long.config.mjs, scripts/slow.mjs.
      testPathIgnorePatterns: [
        '/node_modules/',
        ...leftOut(LONG_ALONE),
        '<rootDir>/test/(processes|machines|faults|walls|secrets|automations|fuzz|console|sign-in|payment|python)/',
        ...(process.env.MILLWRIGHT_SLOW === '1' ? [] : ['<rootDir>/test/(slow|hostile)/']),
      ],
      ...onPostgres,
    },
  ],
};
