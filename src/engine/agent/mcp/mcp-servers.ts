import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { mcpServersIn } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { MOST_SERVERS, type McpServerConfig } from '../../../platform/config/mcp-servers.js';
import { ApiError } from '../../../platform/http/api-error.js';

/** The servers that the operator offers (reference §28). */
@Injectable()
export class McpServers {
  private readonly all: readonly McpServerConfig[];

  constructor(env: Env) {
    this.all = mcpServersIn(env.file);
  }

  /** Those that are open to a workspace, by name. */
  openTo(slug: string): McpServerConfig[] {
    return this.all.filter(({ workspaces }) => workspaces === undefined || workspaces.includes(slug));
  }

  /** What a task has that nobody names any for. @param barred names of which it has none. */
  usual(slug: string, barred: readonly string[] = []): string[] {
    const usual = this.openTo(slug).filter((one) => one.default && !barred.includes(one.name));
    return usual.slice(0, MOST_SERVERS).map(({ name }) => name);
  }

  /** Those of a `url`, which a task that an event began has only by the word of its automation: what an event says others have written. */
  ofUrls(): string[] {
    return this.all.flatMap(({ kind, name }) => (kind === 'url' ? [name] : []));
  }

  /** Throws 400 with the place of the first name that is not open to the workspace. */
  check(slug: string, names: readonly string[]): void {
    const open = this.openTo(slug).map(({ name }) => name);
    const wrong = names.findIndex((name) => !open.includes(name));
    if (wrong < 0) return;
    const param = `mcpServers[${wrong}]`;
    throw new ApiError('invalid_field', `${param}: there is no such server; GET /v1/mcp-servers lists them.`, {
      param,
    });
  }
}

/** By which one knows whether a server is still the one that was asked. */
export function fingerprintOf(server: McpServerConfig): string {
  return createHash('sha256').update(JSON.stringify(server)).digest('hex').slice(0, 32);
}

/** Whether a name fits one of the globs, in which `*` stands for anything. */
export function matches(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => fits(glob.split('*'), name));
}

/** Without a regular expression: one of many `*` would try for long. */
function fits([first = '', ...rest]: string[], name: string): boolean {
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
