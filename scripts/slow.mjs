// npm run test:slow: what npm test has no time for: test/slow, test/hostile, and of other files the tests that say so (test/harness/slow.ts).
// Arguments go to Jest: npm run test:slow -- fairness. `-- --long` has all files: without it some that take a minute or more are left out.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LONG_ALONE as OF_NPM_TEST } from '../jest.config.mjs';
import { jest } from './jest.mjs';
import { ROOT, main, prepare } from './setup.mjs';

/** Of these, `npm test` has a witness, or other suites go the same way. */
const LONG_ALONE = [
  'operator-verbs',
  'fairness',
  'event-handlers',
  'repository-push',
  'forks-of-many',
  'simulation',
  'secret-tools',
];

const among = (names, path) => names.some((name) => path.endsWith(`/${name}.spec.ts`));

await main(async () => {
  await prepare();
  const words = process.argv.slice(2).filter((word) => word !== '--long');
  const long = words.length < process.argv.length - 2;
  const names = words.filter((word) => !word.startsWith('-'));
  const wanted = (path) =>
    names.length > 0
      ? names.some((name) => path.includes(name))
      : long || !among([...LONG_ALONE, ...OF_NPM_TEST], path);
  const files = slowFiles().filter(wanted);
  if (files.length === 0) throw new Error(`No test file with a slow form has ${names.join(' or ')} in its path.`);
  const options = words.filter((word) => word.startsWith('-'));
  process.exitCode = await jest([...options, '--testTimeout=240000', '--runTestsByPath', ...files], {
    MILLWRIGHT_SLOW: '1',
  });
});

/** Those of two folders, those that say so by what they use, and those that `npm test` leaves out. */
function slowFiles() {
  return ['src', 'test']
    .flatMap((name) => readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter(
      (path) =>
        /\/test\/(slow|hostile)\//.test(path) ||
        among(OF_NPM_TEST, path) ||
        /\/harness\/slow\.js'|\bdescribeWays\(/.test(readFileSync(path, 'utf8')),
    );
}
