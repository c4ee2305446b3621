// Programs of versions that the operator lists folders for, which an environment may ask for (reference §25).
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigFile } from '../../../platform/config/config-file.js';
import { type Mount, reachableCopy } from './programs.js';

/** Where they are mounted, each under its name. */
export const TOOLS = '/opt/tools';

export interface Tool {
  name: string;
  version: string;
  /** As the host names it, where the users of commands reach it. */
  folder: string;
}

/** What the operator lists, as far as it is there. `missing`: what is not, one sentence each. */
export interface ToolsFound {
  tools: Tool[];
  missing: string[];
}

export async function findTools(
  listed: NonNullable<ConfigFile['sandbox']>['tools'],
  base: string,
  uid: number | null,
): Promise<ToolsFound> {
  const tools: Tool[] = [];
  const missing: string[] = [];
  for (const [name, versions] of Object.entries(listed ?? {})) {
    for (const [version, path] of Object.entries(versions)) {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
        missing.push(`${name} ${version} is not there for environments: ${path} is no folder (sandbox.tools).`);
      } else tools.push({ name, version, folder: await reachableCopy(path, base, uid) });
    }
  }
  return { tools, missing };
}

/** Of the asked ones those that are there. */
export function toolsOf(tools: readonly Tool[], asked: Readonly<Record<string, string>> = {}): Tool[] {
  return Object.entries(asked).flatMap(([name, version]) => {
    return tools.find((one) => one.name === name && one.version === version) ?? [];
  });
}

export const mountOf = ({ name, folder }: Tool): Mount => ({ source: folder, target: join(TOOLS, name) });

/** Where the programs of a tool lie. @param at the folder as the command names it. */
export function programsOf({ folder }: Tool, at: string): string {
  return existsSync(join(folder, 'bin')) ? join(at, 'bin') : at;
}
