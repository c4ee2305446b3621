import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import type { ListedTool } from './input-mcp.js';
import { fingerprintOf } from './mcp-servers.js';

/** What a server lists, as far as it is taken. */
export interface KnownList {
  revision: string;
  tools: ListedTool[];
}

/** The lists that a task may know. */
export interface KnownLists {
  find(server: McpServerConfig): KnownList | null;
  /** @param ttlMs as the server says; null: it does not. */
  keep(server: McpServerConfig, list: KnownList, ttlMs: number | null): void;
  forget(server: McpServerConfig): void;
}

/** At most: what a server says of the time may be longer. */
const MOST_MS = 10 * 60_000;
/** Characters of all lists. */
const ROOM = 32 * 1024 ** 2;

/** The lists of servers that this worker knows, by their configuration. That of a program is its workspace's: it may follow from files of a task. */
export class ListCache {
  private readonly lists = new Map<string, { list: KnownList; until: number; size: number }>();
  private size = 0;

  of(workspaceId: string): KnownLists {
    const key = (server: McpServerConfig) =>
      server.kind === 'program' ? `${workspaceId} ${fingerprintOf(server)}` : fingerprintOf(server);
    return {
      find: (server) => {
        const found = this.lists.get(key(server));
        return found !== undefined && performance.now() < found.until ? found.list : null;
      },
      keep: (server, list, ttlMs) => {
        this.forget(key(server));
        const size = JSON.stringify(list).length;
        this.lists.set(key(server), { list, size, until: performance.now() + Math.min(MOST_MS, ttlMs ?? MOST_MS) });
        this.size += size;
        this.makeRoom();
      },
      forget: (server) => this.forget(key(server)),
    };
  }

  private forget(key: string): void {
    this.size -= this.lists.get(key)?.size ?? 0;
    this.lists.delete(key);
  }

  /** Those that are known longest go first. */
  private makeRoom(): void {
    const now = performance.now();
    for (const [key, { until }] of this.lists) if (until <= now || this.size > ROOM) this.forget(key);
  }
}
