import type { EngineConfig } from '../../platform/config/engines.js';
import { ENGINES } from '../sandbox/drivers/root-folder.js';
import { PROXY_PORT } from '../sandbox/network/inside.js';

/** Where an engine's program calls its model, inside of the sandbox (reference §30). */
export const DOOR_URL = `http://127.0.0.1:${PROXY_PORT}`;

/** How an engine is started, with `{path}` and `{url}` filled in. `prepare`: a shell command to run before; null: none. */
export function filledIn({ name, command, env, prepare }: EngineConfig): {
  command: string[];
  env: Record<string, string>;
  prepare: string | null;
} {
  const values: Record<string, string> = { '{path}': `${ENGINES}/${name}`, '{url}': DOOR_URL };
  const fill = (text: string) => text.replace(/\{path\}|\{url\}/g, (place) => values[place] ?? place);
  return {
    command: command.map(fill),
    env: Object.fromEntries(Object.entries(env).map(([variable, value]) => [variable, fill(value)])),
    prepare: prepare === undefined ? null : fill(prepare),
  };
}
