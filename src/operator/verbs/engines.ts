// The verbs `engine …` (docs/operating.md, "Run Codex, Claude Code, opencode as an engine").
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { TriedProgram } from '../../engine/engines/acp/trial.js';
import { KNOWN_ENGINES, type KnownEngine } from '../../engine/engines/known-engines.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { enginesOf, enginesSchema } from '../../platform/config/engines.js';
import { Env, readEnv } from '../../platform/config/env.js';
import { NAME_RULE, SERVER_NAME } from '../../platform/config/mcp-servers.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { installEngine } from '../engines/install.js';
import { tryEngine } from '../engines/try-engine.js';
import { addVerb } from './command.js';
import { interruptible } from './interruption.js';
import { Progress } from './progress.js';
import { requireInstallation } from './verb.js';

interface InstallOptions {
  json?: true;
  from?: string;
  as?: string;
  force?: true;
  /** False with `--no-trial`. */
  trial: boolean;
}

interface Installed {
  name: string;
  path: string;
  /** Null where it was not tried. */
  tried: TriedProgram | null;
  /** For CONFIG_FILE; null where nobody knows how it is started. */
  config: { engines: object; models: object[] } | null;
}

const NAMES = [...KNOWN_ENGINES.keys()];

/** Adds the verbs to their group. */
export function engines(group: Command, extensions: ExtensionSet): void {
  const command = addVerb(group, 'install <name>')
    .description(
      `puts the program of an engine into DATA_DIR, and prints its configuration; known are ${NAMES.join(', ')}`,
    )
    .option(
      '--from <source>',
      'a folder that has all of it, or a package of npm with its version; default: the version that was tried',
    )
    .addOption(new Option('--as <engine>', 'which of the known ones it is, when its name is another').choices(NAMES))
    .option('--no-trial', 'does not start it in a sandbox')
    .option('--force', 'in place of one of this name')
    .example('codex');
  command.action(async (name: string) => {
    const options = command.optsWithGlobals<InstallOptions>();
    const env = readEnv(undefined, extensions);
    requireInstallation(env);
    const progress = new Progress();
    const done = await interruptible((interrupted) => {
      const say = (text: string) => {
        interrupted.throwIfAborted();
        progress.say(text);
      };
      return install(env, name, options, say, interrupted);
    }).finally(() => progress.end());
    console.log(options.json === true ? JSON.stringify({ engine: done }) : inSentences(done));
  });
}

async function install(
  env: Env,
  name: string,
  { from, as, force, trial }: InstallOptions,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<Installed> {
  if (!SERVER_NAME.test(name)) throw new OperatorError(`'${name}' is no name of an engine: ${NAME_RULE}.`);
  const known = KNOWN_ENGINES.get(as ?? name) ?? null;
  const source = from ?? known?.packageSpec;
  if (source === undefined) {
    throw new OperatorError(`'${name}' is none of ${NAMES.join(', ')}: say with --from where its program is.`);
  }
  const dataDir = new DataDir(env).path;
  let tried: TriedProgram | null = null;
  const check = async (path: string) => {
    if (known === null) return;
    const missing = filesOf(known).find((file) => !existsSync(join(path, file)));
    if (missing !== undefined)
      throw new OperatorError(`${source} is not ${known.title} as it is known: it has no ${missing}.`);
    if (!trial) return;
    say('starts it in a sandbox');
    const engines = enginesSchema.parse({ [name]: { ...known.definition, path } });
    const [engine] = enginesOf(engines);
    const itself = new Env(env.variables, { ...env.file, engines }, env.modelKeys);
    if (engine !== undefined) tried = await tryEngine(itself, engine, dataDir, signal);
  };
  const path = await installEngine({ name, source, dataDir, replace: force === true, say, signal, check });
  return { name, path, tried, config: known === null ? null : configOf(name, path, known) };
}

/** The files of the folder that the command names. */
function filesOf({ definition }: KnownEngine): string[] {
  return definition.command.filter((word) => word.startsWith('{path}/')).map((word) => word.slice('{path}/'.length));
}

function configOf(
  name: string,
  path: string,
  { definition, model }: KnownEngine,
): { engines: object; models: object[] } {
  return {
    engines: { [name]: { path: resolve(path), ...definition } },
    models: [{ id: name, engine: name, ...model }],
  };
}

function inSentences({ name, path, tried, config }: Installed): string {
  const lines = [`The engine ${name} lies in ${path}.`];
  if (tried !== null)
    lines.push(
      `In a sandbox version ${tried.version} was ready ${(tried.startMs / 1000).toFixed(1)} s after its start, and asked its model with ${tried.tools.length} tools.`,
    );
  else lines.push('It was not tried.');
  lines.push('Each machine that runs tasks needs it in the same place.', '');
  if (config === null) {
    lines.push('Name it in "engines" of CONFIG_FILE, with its path, command and wire (reference §16).');
    return lines.join('\n');
  }
  lines.push('For CONFIG_FILE, with a model of yours in place of the one here:', '', JSON.stringify(config, null, 2));
  return lines.join('\n');
}
