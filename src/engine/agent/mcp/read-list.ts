import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import type { ListedTool } from './input-mcp.js';
import { textOf } from './lenient.js';
import { FULL, TakenList } from './listing.js';
import { MOST_BYTES } from '../../sandbox/program-lines.js';
import { weightOf } from './weight.js';

/** For a whole list. */
const LIST_MS = 10_000;
/** A list that has more pages does not end. */
const PAGES = 64;

export interface ReadList {
  tools: ListedTool[];
  /** What is not taken, and why; null: all is. */
  leftOut: string | null;
  /** How long it counts, as the server says; null: it does not. */
  ttlMs: number | null;
}

/**
 * Reads the list of a server, as far as it is taken: page by page, so that no more than one is kept.
 * @param ask for a page, which has to come in that time.
 */
export async function readList(
  server: Pick<McpServerConfig, 'kind' | 'tools'>,
  ask: (params: { cursor?: string }, timeoutMs: number) => Promise<Record<string, unknown>>,
): Promise<ReadList> {
  const list = new TakenList(server);
  const until = performance.now() + LIST_MS;
  let ttlMs: number | null = null;
  let bytes = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await ask(cursor === undefined ? {} : { cursor }, Math.max(1, until - performance.now()));
    if (typeof page['ttlMs'] === 'number') ttlMs = Math.min(ttlMs ?? Infinity, Math.max(0, page['ttlMs']));
    if (Array.isArray(page['tools'])) list.add(page['tools'] as unknown[]);
    cursor = textOf(page['nextCursor']);
    if (cursor === undefined || cursor === '') break;
    bytes += weightOf(page, { bytes: MOST_BYTES - bytes, depth: Infinity }).bytes;
    const over = whyOver(list, pages, bytes);
    if (over === null) continue;
    list.leftOut.add('the rest of the list', over);
    break;
  }
  return { tools: list.tools, leftOut: list.leftOut.words, ttlMs };
}

function whyOver({ isFull }: TakenList, pages: number, bytes: number): string | null {
  if (isFull) return FULL;
  if (bytes > MOST_BYTES) return `a list has at most ${MOST_BYTES / 1024 ** 2} MiB`;
  return pages === PAGES ? `a list has at most ${PAGES} pages` : null;
}
