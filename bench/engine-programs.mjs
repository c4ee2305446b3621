// The agent programs that are there to be measured and evaluated as engines: a small one of the tests, and what ENGINE_PROGRAMS has.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SMALL = fileURLToPath(new URL('../test/harness/engines', import.meta.url));
const PROVIDERS = {
  'openai-chat': 'openai-compatible',
  'openai-responses': 'openai',
  'anthropic-messages': 'anthropic',
};
const KEY = 'ENGINE_MODEL_KEY';
/** What a service needs for all of them, beside {@link engineConfig}. */
export const ENGINE_ENV = { [KEY]: 'none' };

/** Each with its name and its entry in `engines`. ENGINE_PROGRAMS is a folder that has those that `engine install` knows, each under its name. */
export async function enginePrograms({ ENGINE_PROGRAMS: folder = '' } = process.env) {
  const { KNOWN_ENGINES } = await import('../dist/engine/engines/known-engines.js');
  const env = { MODEL_URL: '{url}', MODEL_WIRE: 'openai-chat', MCP: '1' };
  const definition = { command: ['node', '{path}/acp-program.mjs'], env, wire: 'openai-chat', reads: ['look'] };
  const known = [...KNOWN_ENGINES].filter(([name]) => folder !== '' && existsSync(join(folder, name)));
  if (folder !== '' && known.length === 0)
    throw new Error(`ENGINE_PROGRAMS=${folder} has none of ${[...KNOWN_ENGINES.keys()].join(', ')}.`);
  return [
    { name: 'small', definition: { ...definition, path: SMALL } },
    ...known.map(([name, { definition: of }]) => ({ name, definition: { ...of, path: join(folder, name) } })),
  ];
}

/** What CONFIG_FILE has of them. Each drives the model of its name, which is asked at `url`. */
export function engineConfig(programs, url) {
  return {
    engines: Object.fromEntries(programs.map(({ name, definition }) => [name, { startSeconds: 120, ...definition }])),
    models: programs.map(({ name, definition: { wire } }) => {
      return { id: name, engine: name, provider: PROVIDERS[wire], model: 'player', baseUrl: url, apiKeyEnv: KEY };
    }),
    // They bring processes of their own.
    sandbox: { processes: 512, memoryBytes: 4 * 1024 ** 3 },
  };
}
