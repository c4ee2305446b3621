// Keyset pages (reference §11): a cursor names the row after which the next page begins.
import { timingSafeEqual } from 'node:crypto';
import { Injectable, type Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { stringify } from 'safe-stable-stringify';
import { int, raw, sql, timeOrNull, uuidOrNull } from '../database/sql.js';
import { LastingKeys } from '../installation/lasting-keys.js';
import { ApiError } from './api-error.js';
import { Documented } from './documented.js';

const LIMIT = 'limit must be a whole number from 1 to 100';

/** Turns digits into a number, and leaves anything else for the validator to refuse. */
export function digits({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

/** `limit` and `cursor` of a collection; extend it with the collection's own filters. */
export class PageQuery {
  @IsInt({ message: LIMIT })
  @Min(1, { message: LIMIT })
  @Max(100, { message: LIMIT })
  @Transform(digits)
  @Documented({ description: 'How many at most.' })
  limit: number | undefined = 50;

  @IsString()
  @IsOptional()
  @Documented({ description: 'The `nextCursor` of the page before.', minLength: 1 })
  cursor?: string;
}

/** What a cursor is bound to. Anywhere else it is invalid. */
export interface CursorBinding {
  /** `GET /v1/tasks`, with the concrete ids of its path. */
  route: string;
  workspaceId: string;
  userId: string;
  /** Filters and order as the client gave them. */
  filters: Record<string, unknown>;
}

/** The place of a row in the order of the collection, for example `[createdAt, id]`. */
export type Position = readonly string[];

export type Mac = (text: string) => Buffer;

const VERSION = 1;

/** `base64url(JSON of version and position, MAC)`. */
export function encodeCursor(mac: Mac, binding: CursorBinding, position: Position): string {
  const payload = JSON.stringify([VERSION, ...position]);
  return Buffer.concat([seal(mac, binding, payload), Buffer.from(payload)]).toString('base64url');
}

/** The position of a cursor. Throws 400 `invalid_cursor`, with one message for all causes. */
export function decodeCursor(mac: Mac, binding: CursorBinding, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  // A cursor has one spelling. Node would skip what is not base64url, and the last letter has spare bits.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) throw invalidCursor();
  const payload = bytes.subarray(MAC_BYTES).toString('utf8');
  if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), seal(mac, binding, payload))) throw invalidCursor();
  const [version, ...position] = JSON.parse(payload) as [number, ...string[]];
  if (version !== VERSION) throw invalidCursor();
  return position;
}

const MAC_BYTES = 16;

function seal(mac: Mac, binding: CursorBinding, payload: string): Buffer {
  return mac(`${stringify(binding)}\n${payload}`).subarray(0, MAC_BYTES);
}

function invalidCursor(): ApiError {
  return new ApiError('invalid_cursor', 'The cursor is not one that this list gave with these filters.', {
    param: 'cursor',
  });
}

/** More than a collection has; one more is an int of PostgreSQL still. */
const ALL = 2 ** 31 - 2;

/** One page that a client asks for: ask the database for `limit + 1` rows after `after`, then {@link cut}. */
export class PageRequest<Q extends PageQuery = PageQuery> {
  constructor(
    /** The checked query, with the filters of the collection. */
    readonly query: Q,
    /** Null for the first page. */
    readonly after: Position | null,
    private readonly encode: (position: Position) => string,
  ) {}

  /** How many rows at most: all, for a collection without a default. */
  get limit(): number {
    return this.query.limit ?? ALL;
  }

  /** The values of {@link newestFirst}. */
  get place() {
    const [afterTime = null, afterId = null] = this.after ?? [];
    return { afterTime, afterId, limit: this.limit + 1 };
  }

  /**
   * The rows of the page, and the cursor of the next one when there was one row too many.
   * @param early there are more rows than these, although they are not too many: the page ends before them.
   */
  cut<Row>(
    rows: readonly Row[],
    positionOf: (row: Row) => Position,
    early = false,
  ): { rows: Row[]; nextCursor: string | null } {
    const kept = rows.slice(0, this.limit);
    const last = kept.at(-1);
    const more = (early || rows.length > kept.length) && last !== undefined;
    return { rows: kept, nextCursor: more ? this.encode(positionOf(last)) : null };
  }
}

const AFTER = timeOrNull('afterTime');

/** The end of a statement whose rows `alias` are a page by creation, the newest first: what comes after a row, if one is given. */
export const newestFirst = (alias: string) => sql`
  AND (${AFTER} IS NULL OR (${raw(`${alias}.created_at, ${alias}.id`)}) < (${AFTER}, ${uuidOrNull('afterId')}))
ORDER BY ${raw(`${alias}.created_at DESC, ${alias}.id DESC`)} LIMIT ${int('limit')}`;

/** The place of a row in a collection that is ordered by creation. */
export function byCreation(row: { createdAt: Date | string; id: string }): Position {
  return [new Date(row.createdAt).toISOString(), row.id];
}

const PAGE_QUERY = 'millwright:page-query';

/** For the decorator `@Page(Query)`: a handler takes this query. */
export function setPageQuery(controller: object, handler: string | symbol, query: Type<PageQuery>): void {
  Reflect.defineMetadata(PAGE_QUERY, query, controller, handler);
}

/** The query that a handler takes by `@Page`, or undefined. */
export function pageQueryOf(controller: object, handler: string | symbol): Type<PageQuery> | undefined {
  return Reflect.getMetadata(PAGE_QUERY, controller, handler) as Type<PageQuery> | undefined;
}

@Injectable()
export class Pages {
  private readonly mac: Mac;

  constructor(keys: LastingKeys) {
    this.mac = keys.mac('cursors');
  }

  /** Opens the page that a query asks for. Throws 400 `invalid_cursor`. */
  open<Q extends PageQuery>(query: Q, binding: CursorBinding): PageRequest<Q> {
    const after = query.cursor === undefined ? null : decodeCursor(this.mac, binding, query.cursor);
    return new PageRequest(query, after, (position) => encodeCursor(this.mac, binding, position));
  }
}
