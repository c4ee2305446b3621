// Makes a checkout ready: Node version, packages, build. Plain Node, so that it runs before anything is installed.
// It speaks on standard error only: standard output belongs to the command that comes after.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SETUP = join(ROOT, '.setup');
const STAMP = join(ROOT, 'dist', '.build-stamp');
const LOCK_WAIT_MS = 10 * 60_000;

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

/** Packages as the lock file wants them, development packages included: the build and the tests need those. */
export async function ensureInstalled() {
  if (installed()) return;
  await locked(async () => {
    if (installed()) return;
    const npm = npmCommand();
    // Said explicitly: with NODE_ENV=production npm would leave the compiler out.
    const args = [...npm.args, 'ci', '--no-audit', '--no-fund', '--include=dev'];
    await step('Installing packages (npm ci)', npm.command, args, 'install.log');
  });
}

export async function ensureBuilt() {
  if (built()) return;
  await locked(async () => {
    if (built()) return;
    const npm = npmCommand();
    const hash = sourceHash();
    await step('Building', npm.command, [...npm.args, 'run', 'build'], 'build.log');
    // Written last: a build that was interrupted has no stamp and is made again.
    writeFileSync(STAMP, hash);
  });
}

/** Everything that `npm start` needs. */
export async function prepare() {
  ensureNode();
  await ensureInstalled();
  await ensureBuilt();
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

// Compared by content, not by time: `git clone` and `git checkout` set times that say nothing.
function installed() {
  const wanted = lockedVersions(join(ROOT, 'package-lock.json'));
  const found = lockedVersions(join(ROOT, 'node_modules', '.package-lock.json'));
  if (wanted === null || found === null) return wanted === null && found !== null;
  return Object.entries(wanted).every(([path, entry]) => {
    // Optional packages of other platforms are rightly absent.
    if (path === '' || (entry.optional && found[path] === undefined)) return true;
    return found[path]?.version === entry.version;
  });
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
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourceHash();
}

function sourceHash() {
  const hash = createHash('sha256');
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const settings = ['package-lock.json', 'package.json', 'nest-cli.json', '.swcrc', 'tsconfig.json'];
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

// Two commands at once in one checkout: one does the work, the other waits and then finds it done.
async function locked(work) {
  mkdirSync(SETUP, { recursive: true });
  const lock = join(SETUP, 'lock');
  const mine = join(SETUP, `lock.${process.pid}`);
  writeFileSync(mine, String(process.pid));
  try {
    await acquire(lock, mine);
    const release = () => rmSync(lock, { force: true });
    process.once('exit', release);
    try {
      await work();
    } finally {
      process.removeListener('exit', release);
      release();
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

async function acquire(lock, mine) {
  const until = Date.now() + LOCK_WAIT_MS;
  for (let told = false; ; told = true) {
    try {
      // A link comes into being together with its content, the holder's process id.
      linkSync(mine, lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(lock);
    if (holder !== null && !alive(holder)) rmSync(lock, { force: true });
    else if (Date.now() > until) throw new SetupError(`Process ${holder} has held ${lock} for 10 minutes.`);
    else {
      if (!told) say(`Waiting for the setup that process ${holder} is doing …`);
      await delay(200);
    }
  }
}

function holderOf(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return null;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
