// What is taken of the list of a server (reference §28).
import { createHash } from 'node:crypto';
import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import { isJsonObject } from '../../models/conversation.js';
import { cleanText } from '../clean-json.js';
import type { ListedTool, OfferedTool } from './input-mcp.js';
import { isShowable, LeftOut } from './left-out.js';
import { textOf } from './lenient.js';
import { matches } from './mcp-servers.js';
import { PREFIX } from './names.js';
import { paramHeaders } from './param-headers.js';
import { checkSent, shownSchema, TOO_MUCH, UnfitSchemaError } from './schemas.js';

const OF_SERVER = 64;
const OF_TASK = 256;
const DESCRIPTION = 2_000;
const NAME = 64;
/** Longer ones are nobody's, and would stand in each record of a call. */
const OWN_NAME = 1_000;
/** Characters of schemas that are read for one list. */
const READ = 4 * 1024 ** 2;

/** What is taken of the list of one server, page by page. */
export class TakenList {
  readonly tools: ListedTool[] = [];
  readonly leftOut = new LeftOut();
  private readonly room = { left: READ };

  constructor(private readonly server: Pick<McpServerConfig, 'kind' | 'tools'>) {}

  get isFull(): boolean {
    return this.tools.length === OF_SERVER;
  }

  add(entries: readonly unknown[]): void {
    for (const entry of entries) {
      const name = isJsonObject(entry) ? textOf(entry['name']) : undefined;
      const taken = this.taken(entry, name);
      if (typeof taken === 'string') this.leftOut.add(name, taken);
      else if (taken !== null) this.tools.push(taken);
    }
  }

  /** A text: why it cannot be used. Null: the operator does not want it. */
  private taken(entry: unknown, name: string | undefined): ListedTool | string | null {
    if (!isJsonObject(entry) || name === undefined || name === '') return 'it has no name';
    if (name.length > OWN_NAME) return 'its name is too long';
    if (!isShowable(name)) return 'its name has characters that none may have';
    const { kind, tools } = this.server;
    if (!matches(tools, name)) return null;
    if (this.isFull) return FULL;
    const { inputSchema, description } = entry;
    if (!isJsonObject(inputSchema)) return 'its inputSchema is no object';
    if (this.room.left <= 0) return TOO_MUCH;
    try {
      checkSent(inputSchema);
      const headers = kind === 'url' ? paramHeaders(inputSchema) : [];
      if (headers === null) return 'its x-mcp-header is wrong';
      const text = cleanText((textOf(description) ?? '').slice(0, DESCRIPTION));
      const schema = shownSchema(inputSchema, this.room);
      return { name, description: text, inputSchema: schema, ...(headers.length === 0 ? {} : { headers }) };
    } catch (error) {
      if (error instanceof UnfitSchemaError) return error.message;
      throw error;
    }
  }
}
export const FULL = `a server has at most ${OF_SERVER} tools`;

/** The tools of all servers as the model calls them, by name. Of two of one name the later is left out. */
export function offeredTools(
  servers: readonly { name: string; tools: readonly ListedTool[] }[],
  leftOut: LeftOut,
): OfferedTool[] {
  const all = new Map<string, OfferedTool>();
  for (const { name: server, tools } of servers) {
    for (const tool of tools) {
      const calledAs = calledName(server, tool.name);
      if (all.has(calledAs)) leftOut.add(calledAs, 'another one is called the same');
      else if (all.size === OF_TASK) leftOut.add(calledAs, `a task has at most ${OF_TASK} tools of servers`);
      else all.set(calledAs, { ...tool, server, calledAs });
    }
  }
  return [...all.values()].sort((a, b) => (a.calledAs < b.calledAs ? -1 : 1));
}

/** As a model calls the tool of a server. */
export function calledName(server: string, tool: string): string {
  const name = `${PREFIX}${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  if (name.length <= NAME) return name;
  const sum = createHash('sha256').update(`${PREFIX}${server}__${tool}`).digest('hex').slice(0, 6);
  return `${name.slice(0, NAME - 7)}_${sum}`;
}
