import type { CallOptions, Query, Transport } from './transport.js';

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** Where the next page begins; null on the last one. */
  nextCursor: string | null;
  /** Only of lists that ask other hosts: whether there may be more than they have said. */
  partial?: boolean;
}

/** A list that is read while it is walked through, page by page. */
export class List<T> implements AsyncIterable<T> {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly key: string,
    private readonly query: Query = {},
    private readonly options: CallOptions = {},
  ) {}

  /** One page: the first, or that of a cursor. */
  async page(cursor?: string): Promise<Page<T>> {
    const { path, key, query } = this;
    const asked = { method: 'GET', path, query: { ...query, cursor }, signal: this.options.signal } as const;
    const body = await this.transport.json<Record<string, unknown>>(asked);
    const { partial } = body as { partial?: boolean };
    return {
      items: body[key] as T[],
      nextCursor: (body['nextCursor'] as string | null | undefined) ?? null,
      ...(partial !== undefined && { partial }),
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await this.page(cursor);
      yield* items;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
