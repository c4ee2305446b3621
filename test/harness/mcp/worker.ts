// A worker whose operator offers servers of tools.
import { fileURLToPath } from 'node:url';
import { type BootOptions, bootWorker, type TestApp } from '../app.js';
import type { ModelServer } from '../model-server.js';

/** Of the programs that stand here; tasks see them below `/opt/programs/mcp`. */
export const PROGRAMS = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

/** One of them, by its file. */
export const programOf = (file: string, ...args: string[]) => ({
  command: 'node',
  args: [`/opt/programs/mcp/${file}`, ...args],
});

type Config = NonNullable<BootOptions['config']>;

/** With the model `scripted`, unless `config` has others. */
export function bootWithServers(
  model: ModelServer,
  mcpServers: NonNullable<Config['mcpServers']>,
  config: Config = {},
): Promise<TestApp> {
  const models = [{ id: 'scripted', provider: 'openai-compatible' }];
  const usual = { models, titles: false, sandbox: { programs: [PROGRAMS] }, mcpServers };
  return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config: { ...usual, ...config } });
}
