import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Env } from '../../platform/config/env.js';
import { PluginRegistry, type Seam } from '../../platform/plugins/plugin.js';
import { composeCli } from '../verbs/compose-cli.js';
import { withOpen } from '../verbs/verb.js';
import { type Finding, warn } from './check.js';
import type { Examination } from './examination.js';
import { secretsOf } from './secret.check.js';

/**
 * Calls `act` with the implementations of a seam that extensions bring in their `operatorModule`, by name. It is loaded as for a verb of
 * the extension, but nothing is migrated. The built-in ones are not among them.
 */
export async function withPlugins<T, R>(
  at: Examination,
  seam: Seam<T>,
  act: (found: ReadonlyMap<string, T>) => Promise<R>,
): Promise<R> {
  if (at.extensions.operatorModules.length === 0) return act(new Map());
  const { url } = await at.database;
  const { variables, file, modelKeys } = at.env;
  // The embedded server is open already; neither a folder nor a secret is made.
  const DATA_DIR = at.dataDir?.path ?? tmpdir();
  const { current: SECRET_KEY, previous } = secretsOf(at) ?? {
    current: randomBytes(32).toString('hex'),
    previous: null,
  };
  const own = { DATABASE_URL: url, DATA_DIR, SECRET_KEY, SECRET_KEY_PREVIOUS: previous ?? undefined };
  const env = new Env({ ...variables, ...own }, file, modelKeys);
  // What is not of this installation, other checks say.
  const nothing = () => Promise.resolve();
  const modules = composeCli(env, at.extensions, { prepare: nothing, recognise: nothing });
  return withOpen(modules, (services) => act(services.get(PluginRegistry).all(seam)));
}

/** Of what such a module would have to bring. */
export function notBrought(check: string, name: string): Finding {
  const advice = 'Provide it by the operatorModule of its extension, to have it tried here (docs/seams.md).';
  return warn(check, `'${name}' was not tried: no operatorModule of an extension brings it.`, advice);
}
