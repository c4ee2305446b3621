// The definition of an agent in a file.
import { readFileSync } from 'node:fs';
import { SetupError } from '../scripts/setup.mjs';

/** What the service alone says of an agent, and what belongs to the agent and not to a version. */
const LEFT_OUT = ['id', 'slug', 'version', 'default', 'archived', 'channels', 'createdBy', 'createdAt', 'updatedAt'];

/** What `mw agents show --json` prints, or what POST /v1/agents takes. Without its slug: two files may be two versions of one agent. */
export function readDefinition(path) {
  let said;
  try {
    said = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new SetupError(`--agent ${path}: ${error.message}`);
  }
  const isObject = typeof said === 'object' && said !== null && !Array.isArray(said);
  if (!isObject) throw new SetupError(`--agent ${path}: this is no JSON object.`);
  return Object.fromEntries(Object.entries(said).filter(([name]) => !LEFT_OUT.includes(name)));
}

/** Whether `--agent` names a file: slugs have neither dots nor slashes. */
export const isFile = (name) => /[./\\]/.test(name);
