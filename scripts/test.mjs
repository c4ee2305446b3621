// npm test: installs and builds what is missing, then runs Jest's projects unit and e2e, or those that --selectProjects
// names. Arguments go to Jest: npm test -- src/http.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, main, prepare } from './setup.mjs';

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
  const code = await jest(await testEnvironment());
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

// The tests bring their own configuration. A DATABASE_URL or a provider key of the shell must not reach them: they would
// write to a real database, or ask a real model.
async function testEnvironment() {
  const { ENV_NAMES } = await import(pathToFileURL(join(ROOT, 'dist', 'config', 'env.js')).href);
  const env = { ...process.env, NODE_ENV: 'test' };
  const set = ENV_NAMES.filter((name) => env[name] !== undefined);
  for (const name of set) delete env[name];
  if (set.length > 0) console.error(`Not passed on to the tests: ${set.join(', ')}.`);
  env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ''} --experimental-vm-modules`.trim();
  return env;
}

/** The others (jest.config.mjs) take long and have commands of their own. They stand last: the option takes every word behind it. */
function withProjects(given) {
  const chosen = given.some((argument) => argument.startsWith('--selectProjects'));
  return chosen ? given : [...given, '--selectProjects', 'unit', 'e2e'];
}

function jest(env) {
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(process.execPath, [program, ...withProjects(process.argv.slice(2))], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}
