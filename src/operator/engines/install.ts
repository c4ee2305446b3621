// Lays the program of an engine into DATA_DIR (docs/operating.md, "Run Codex, Claude Code, opencode as an engine").
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '../../access/auth/operator-error.js';
import { findProgram, isLeftOver, needProgram, ownName, run } from '../../engine/sandbox/host.js';
import { variablesFor } from '../../platform/config/env.js';
import { removeTree } from '../../platform/config/reachable.js';

export interface InstallOptions {
  /** Name of the engine. */
  name: string;
  /** A folder that has all of it, or what npm is asked for. */
  source: string;
  dataDir: string;
  /** In place of one that is there. */
  replace: boolean;
  say: (text: string) => void;
  signal: AbortSignal;
  /** Looks at the whole folder before it has its name. What it throws is passed on, and nothing is left. */
  check: (folder: string) => Promise<void>;
}

/** Variables that npm is to have: how it gets out, and what the operator has set of it. None of the service's. */
const FOR_NPM =
  /^(PATH|HOME|LANG|TMPDIR|npm_config_.*|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
const OUTPUT = 16 * 1024 ** 2;

/** Resolves with the folder. Throws {@link OperatorError}; whatever happens, nothing half-made is left. */
export async function installEngine(options: InstallOptions): Promise<string> {
  const { name, dataDir, replace, say, check } = options;
  const base = join(dataDir, 'engines');
  const target = join(base, name);
  if (existsSync(target) && !replace) {
    throw new OperatorError(
      `${target} is there already. Give --force to put another in its place; tasks that run it now lose it.`,
    );
  }
  mkdirSync(base, { recursive: true, mode: 0o755 });
  removeLeftOvers(base);
  const draft = join(base, `.${ownName()}`);
  try {
    await fill(draft, options);
    say('lets every user read it');
    await run(needProgram('chmod', 'coreutils'), ['-R', 'u+rwX,go+rX,go-w', '--', draft]);
    await check(draft);
    options.signal.throwIfAborted();
    putInPlace(draft, target);
    return target;
  } finally {
    removeTree(draft);
  }
}

async function fill(draft: string, { source, say, signal }: InstallOptions): Promise<void> {
  const folder = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!folder && /^\.{0,2}\//.test(source) && !existsSync(source)) {
    throw new OperatorError(`There is no folder ${resolve(source)}.`);
  }
  if (folder) {
    say(`copies ${source}`);
    await run(needProgram('cp', 'coreutils'), ['-a', '--', source, draft], { signal });
    return;
  }
  const npm = findProgram('npm');
  if (npm === null) {
    throw new OperatorError(
      'npm is not installed here. Lay the packages into a folder on another machine, and give that with --from.',
    );
  }
  mkdirSync(draft, { mode: 0o755 });
  // Without it npm would look for one in the folders above.
  writeFileSync(join(draft, 'package.json'), '{ "private": true }\n');
  say(`npm installs ${source}`);
  // No script of a package is run: it would be as this user, outside of every sandbox.
  const words = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--omit=dev',
    '--loglevel=error',
    '--',
    source,
  ];
  const env = variablesFor(FOR_NPM);
  await run(npm, words, { cwd: draft, env, signal, maxBuffer: OUTPUT }).catch((error: unknown) => {
    signal.throwIfAborted();
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new OperatorError(`npm could not install ${source}: ${stderr.trim() || message}`);
  });
}

/** One that was there is away only when the new one has its name. */
function putInPlace(draft: string, target: string): void {
  const former = `${draft}.former`;
  const replaced = existsSync(target);
  if (replaced) renameSync(target, former);
  try {
    renameSync(draft, target);
  } catch (error) {
    if (replaced) renameSync(former, target);
    throw error;
  }
  if (replaced) removeTree(former);
}

/** What a command that was killed has left. */
function removeLeftOvers(base: string): void {
  for (const name of readdirSync(base)) {
    if (name.startsWith('.') && isLeftOver(name.slice(1))) removeTree(join(base, name));
  }
}
