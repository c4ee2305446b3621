// Makes a checkout ready: Node version, packages, build. Plain Node, so that it runs before anything is installed.
// It speaks on standard error only: standard output belongs to the command that comes after.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { locked } from './setup-lock.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SETUP = join(ROOT, '.setup');
const INSTALL_STAMP = join(ROOT, 'node_modules', '.install-stamp');
const BUILD_STAMP = join(ROOT, 'dist', '.build-stamp');

/** A failure whose message is all that the reader needs: no stack. */
export class SetupError extends Error {}

const say = (text) => process.stderr.write(`${text}\n`);

export function ensureNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new SetupError(`Millwright needs Node 20.19 or newer; this is Node ${version} (${process.execPath}).`);
}

/** Reads `.env` of the checkout, if there is one. What the environment already has wins. */
export function loadDotEnv(env = process.env) {
  const path = join(ROOT, '.env');
  if (!existsSync(path)) return;
  for (const [name, value] of Object.entries(parseEnv(readFileSync(path, 'utf8')))) env[name] ??= value;
}

/** Everything that the commands need: the right Node, the packages of the lock file, a build of these sources. */
export async function prepare() {
  ensureNode();
  if (installed() && built()) return;
  // One lock around both: a build must not run while another command replaces the packages under it.
  await locked(SETUP, async () => {
    if (!installed()) await install();
    if (!built()) await build();
  });
}

async function install() {
  const npm = npmCommand();
  const hash = lockHash();
  // Said explicitly: with NODE_ENV=production npm would leave out the compiler and the tests.
  const args = [...npm.args, 'ci', '--no-audit', '--no-fund', '--include=dev'];
  await step('Installing packages (npm ci)', npm.command, args, 'install.log');
  writeFileSync(INSTALL_STAMP, hash);
}

async function build() {
  const npm = npmCommand();
  const hash = sourceHash();
  await step('Building', npm.command, [...npm.args, 'run', 'build'], 'build.log');
  // Written last: a build that was interrupted has no stamp and is made again.
  writeFileSync(BUILD_STAMP, hash);
}

/** Runs a script's main function; a failure is one readable message and exit code 1. */
export async function main(run) {
  try {
    await run();
  } catch (error) {
    say(error instanceof SetupError ? error.message : String(error?.stack ?? error));
    process.exit(1);
  }
}

// Judged by content, not by time: `git clone` and `git checkout` set times that say nothing.
function installed() {
  if (existsSync(INSTALL_STAMP) && readFileSync(INSTALL_STAMP, 'utf8') === lockHash()) return true;
  // Somebody may have run npm by hand: then what npm says that it installed decides.
  const wanted = lockedVersions(join(ROOT, 'package-lock.json'));
  const found = lockedVersions(join(ROOT, 'node_modules', '.package-lock.json'));
  if (found === null) return false;
  return Object.entries(wanted ?? {}).every(([path, entry]) => {
    // Optional packages of other platforms are rightly absent.
    if (path === '' || entry.extraneous || (entry.optional && found[path] === undefined)) return true;
    return found[path]?.version === entry.version;
  });
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

function lockedVersions(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw new SetupError(`${path} cannot be read: ${error.message}`);
  }
}

function built() {
  if (!existsSync(join(ROOT, 'dist', 'main.js'))) return false;
  // A deployment without sources or compiler runs what it was given.
  if (!existsSync(join(ROOT, 'src')) || !existsSync(join(ROOT, 'node_modules', '@nestjs', 'cli'))) return true;
  const others = [
    'types/index.d.ts',
    'packages/sdk/dist/index.js',
    'packages/cli/dist/index.js',
    'dist-console/index.html',
  ];
  if (!others.every((name) => existsSync(join(ROOT, name)))) return false;
  return existsSync(BUILD_STAMP) && readFileSync(BUILD_STAMP, 'utf8') === sourceHash();
}

function sourceHash() {
  const hash = createHash('sha256');
  const sources = ['src', 'packages/sdk/src', 'packages/cli/src', 'console/src', 'console/public']
    .flatMap((name) => readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const settings = [
    'package-lock.json',
    'package.json',
    'nest-cli.json',
    '.swcrc',
    'tsconfig.json',
    'tsconfig.build.json',
    'packages/sdk/package.json',
    'packages/sdk/tsconfig.json',
    'packages/cli/package.json',
    'packages/cli/tsconfig.json',
    'packages/cli/tsconfig.build.json',
    'console/package.json',
    'console/index.html',
    'console/vite.config.ts',
  ];
  for (const path of [...sources.sort(), ...settings.map((name) => join(ROOT, name))]) {
    const content = readFileSync(path);
    hash.update(`${path.slice(ROOT.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

// npm names itself to the scripts that it runs; a script started by hand takes the one on the PATH.
function npmCommand() {
  const path = process.env.npm_execpath ?? '';
  return path.endsWith('npm-cli.js') && existsSync(path)
    ? { command: process.execPath, args: [path] }
    : { command: 'npm', args: [] };
}

async function step(title, command, args, logName) {
  const logPath = join(SETUP, logName);
  const started = performance.now();
  say(`${title} …`);
  const log = createWriteStream(logPath);
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const code = await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new SetupError(`${title} could not start: ${error.message}`)));
    child.once('close', (exitCode, signal) => resolve(exitCode ?? signal));
  });
  await new Promise((resolve) => log.end(resolve));
  if (code !== 0) {
    const tail = readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-40).join('\n');
    throw new SetupError(`${tail}\n\n${title} failed (${code}). The whole output is in ${logPath}.`);
  }
  say(`${title}: done in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
}
