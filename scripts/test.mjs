// npm test: installs and builds what is missing, then runs Jest. Arguments go to Jest: npm test -- src/platform/http.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { jest } from './jest.mjs';
import { main, prepare } from './setup.mjs';

const OPTIONAL = [
  { program: 'redis-server', without: 'the suites that drive Bull on a real Redis' },
  { program: 'bwrap', without: 'the bubblewrap half of the sandbox suite' },
];

await main(async () => {
  await prepare();
  const skipped = OPTIONAL.filter(({ program }) => !onPath(program)).map(
    ({ program, without }) => `Skipped: ${without}, because ${program} is not on the PATH.`,
  );
  for (const line of skipped) console.error(line);
  const code = await jest(process.argv.slice(2));
  for (const line of skipped) console.error(line);
  process.exitCode = code;
});

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
