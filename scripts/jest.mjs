// Runs Jest as a child, in an environment without the service's own variables.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './setup.mjs';

/** Resolves with its exit code. `more`: variables that are added. */
export async function jest(words, more = {}) {
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const env = { ...(await testEnvironment()), ...more };
  const child = spawn(process.execPath, [program, ...words], { cwd: ROOT, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

// The tests bring their own configuration. A DATABASE_URL or a provider key of the shell must not reach them: they would
// write to a real database, or ask a real model.
async function testEnvironment() {
  const { ENV_NAMES } = await import(pathToFileURL(join(ROOT, 'dist', 'platform', 'config', 'env.js')).href);
  const env = { ...process.env, NODE_ENV: 'test' };
  const set = ENV_NAMES.filter((name) => env[name] !== undefined);
  for (const name of set) delete env[name];
  if (set.length > 0) console.error(`Not passed on to the tests: ${set.join(', ')}.`);
  env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ''} --experimental-vm-modules`.trim();
  return env;
}
