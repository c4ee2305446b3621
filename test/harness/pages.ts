import type { Client } from './client.js';

export interface PageBody {
  /** Ids, in the order in which they came. */
  ids: string[];
  nextCursor: string | null;
}

/** One page of a collection; `path` may have a query. Fails unless it is answered with 200. */
export async function readPage(client: Client, path: string, query: Record<string, string>): Promise<PageBody> {
  const { status, body, text } = await client.get(withQuery(path, query));
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const { nextCursor, ...rest } = body as { nextCursor: string | null } & Record<string, { id: string }[]>;
  const [rows = []] = Object.values(rest) as { id: string }[][];
  return { ids: rows.map(({ id }) => id), nextCursor };
}

/** A collection from its first page to its last. */
export async function walk(client: Client, path: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let query: Record<string, string> = { limit: String(limit) };
  for (;;) {
    const page = await readPage(client, path, query);
    ids.push(...page.ids);
    if (page.nextCursor === null) return ids;
    query = { limit: String(limit), cursor: page.nextCursor };
  }
}

/** A path with further parameters in its query. */
export function withQuery(path: string, query: Record<string, string>): string {
  return `${path}${path.includes('?') ? '&' : '?'}${String(new URLSearchParams(query))}`;
}
