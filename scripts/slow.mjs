// npm run test:slow: the test files that have more to try than npm test has time for (test/harness/slow.ts), in their whole form.
// Arguments go to Jest: npm run test:slow -- fairness.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from './jest.mjs';
import { ROOT, main, prepare } from './setup.mjs';

await main(async () => {
  await prepare();
  const words = process.argv.slice(2);
  const names = words.filter((word) => !word.startsWith('-'));
  const files = slowFiles().filter((path) => names.length === 0 || names.some((name) => path.includes(name)));
  if (files.length === 0) throw new Error(`No test file with a slow form has ${names.join(' or ')} in its path.`);
  const options = words.filter((word) => word.startsWith('-'));
  process.exitCode = await jest([...options, '--testTimeout=240000', '--runTestsByPath', ...files], {
    MILLWRIGHT_SLOW: '1',
  });
});

/** Those that say so, by what they import. */
function slowFiles() {
  return ['src', 'test']
    .flatMap((name) => readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => readFileSync(path, 'utf8').includes("/harness/slow.js'"));
}
