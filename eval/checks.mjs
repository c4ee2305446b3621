// Judges what a task left: the hidden checks in a folder of their own, with limits; what was damaged.
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import typescript from 'typescript';
import { intended } from './repairs.mjs';

const CHECK_MS = 60_000;
const CHECK_LIMITS = ['--cpu=20', '--fsize=16777216', '--core=0', '--nofile=256'];
const CHECK_FOLDER = 'hidden-checks';
/** Made by running: no file of anybody. */
const MADE = /(^|\/)(__pycache__|node_modules|build|hidden-checks)(\/|$)/;
const NOBODY = 65_534;

/** Files below a folder: path → text. Links are left out, and not followed: a result may point anywhere. */
export function readTree(folder, prefix = '') {
  const found = new Map();
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = prefix + entry.name;
    if (MADE.test(path)) continue;
    if (entry.isFile()) found.set(path, readFileSync(join(folder, path), 'utf8'));
    else if (entry.isDirectory()) for (const [below, text] of readTree(folder, `${path}/`)) found.set(below, text);
  }
  return found;
}

export function writeTree(folder, files) {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A program that these repairs or their checks need and this machine lacks; null when there is none. */
export function missing(repairs) {
  const needed = new Set(
    repairs.flatMap(({ checks, needs }) => [...checks.map(({ name }) => PROGRAMS[extname(name)][0]), ...needs]),
  );
  const there = (name) => PROGRAM_PATH.split(':').some((folder) => existsSync(join(folder, name)));
  return [...needed].find((name) => name !== process.execPath && !there(name)) ?? null;
}

/** Resolves with the names of the checks that do not pass on these files. */
export async function failing({ checks, parts }, files) {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-check-'));
  try {
    writeTree(folder, files);
    writeTree(folder, translated(files));
    writeTree(join(folder, CHECK_FOLDER), new Map([...parts, ...checks.map(({ name, text }) => [name, text])]));
    // The checks run as a user without rights where this runs as root, and may write beside the files.
    for (const path of [folder, join(folder, CHECK_FOLDER)]) chmodSync(path, 0o777);
    const failed = [];
    // One after another: they write files of the same names.
    for (const { name } of checks) if (!(await passes(folder, name))) failed.push(name);
    return failed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where commands are looked for, here and in a sandbox, which sees nothing but /usr of the host. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';
const PROGRAMS = { '.mjs': [process.execPath], '.py': ['python3'], '.sh': ['bash'] };

function passes(folder, name) {
  const [command, ...args] = [...confined(folder), ...PROGRAMS[extname(name)], join(CHECK_FOLDER, name)];
  const env = { PATH: PROGRAM_PATH, HOME: folder, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: folder, env, timeout: CHECK_MS, killSignal: 'SIGKILL', maxBuffer: 1024 * 1024 };
  return new Promise((resolve) => execFile(command, args, options, (error) => resolve(error === null)));
}

/** What each check begins with: a program that needs what checks need has shown that it works here. */
let walls;

/**
 * Limits of util-linux: no network, nothing that outlives the check, and no rights where this runs as root. A host may give no namespaces to an
 * ordinary user, or keep node where a user without rights cannot go: then as much of it as works.
 */
function confined(folder) {
  if (walls !== undefined) return walls;
  const root = process.getuid() === 0;
  const alone = ['unshare', ...(root ? [] : ['--map-current-user']), '--net', '--pid', '--fork', '--kill-child'];
  const rights = root
    ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs', '--']
    : [];
  const limits = ['prlimit', ...CHECK_LIMITS];
  const ways = [
    [...alone, ...rights, ...limits],
    [...rights, ...limits],
    [...alone, ...limits],
  ];
  walls = ways.find((way) => works(way, folder)) ?? limits;
  return walls;
}

function works([command, ...args], folder) {
  const probe = [process.execPath, '-e', 'require("node:fs").readdirSync(process.cwd())'];
  try {
    execFileSync(command, [...args, ...probe], { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** TypeScript beside itself as JavaScript, for the checks. */
function translated(files) {
  const compilerOptions = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 };
  const sources = [...files].filter(([path]) => path.endsWith('.ts'));
  return new Map(
    sources.map(([path, text]) => [
      path.replace(/\.ts$/, '.js'),
      typescript.transpileModule(text, { compilerOptions }).outputText,
    ]),
  );
}

/**
 * What went wrong with the files themselves: `['src/a.js changed', …]`. A file that was not part of the repair is not as it was; one that
 * was has a syntax error, or, with `exact`, holds what no change of the repair says. New files are no damage.
 */
export function damage(repair, files, { exact }) {
  const own = new Set(repair.changes.map(({ path }) => path));
  return [...repair.files].flatMap(([path, before]) => {
    const after = files.get(path);
    if (after === undefined) return [`${path} is gone`];
    if (after === before) return [];
    if (!own.has(path)) return [`${path} changed`];
    if (!hasSyntax(path, after)) return [`${path} has a syntax error`];
    return exact && !intended(repair, path).has(after) ? [`${path} is not what was meant`] : [];
  });
}

const SYNTAX = {
  '.sh': (path) => ['bash', ['-n', path]],
  '.py': (path) => ['python3', ['-c', 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")', path]],
};

/** Whether a file can be read by its language. Nothing of it is run. */
export function hasSyntax(path, text) {
  const extension = extname(path);
  if (['.js', '.mjs', '.ts'].includes(extension)) return !wrongScript(path, text);
  if (extension === '.json') return isJson(text);
  const command = SYNTAX[extension];
  if (command === undefined) return true;
  const folder = mkdtempSync(join(tmpdir(), 'millwright-syntax-'));
  try {
    const file = join(folder, basename(path));
    writeFileSync(file, text);
    const [program, args] = command(file);
    execFileSync(program, args, { stdio: 'ignore', timeout: CHECK_MS });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function wrongScript(path, text) {
  const fileName = path.replace(/\.mjs$/, '.js');
  const { diagnostics } = typescript.transpileModule(text, { fileName, reportDiagnostics: true });
  return diagnostics.length > 0;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
