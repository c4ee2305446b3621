// SQL with named, typed values: the compiler refuses a value that is missing, superfluous or of the wrong type.

/** A value of a statement. It is `$n::cast` in the text; `P` says under which name the statement takes it. */
export class Param<P> {
  declare readonly params: P;

  /**
   * @param key two values of one key are one value of the statement.
   * @param cast the PostgreSQL type.
   * @param read takes the value out of what the statement is given.
   */
  constructor(
    readonly key: string,
    readonly cast: string,
    readonly read: (given: Record<string, unknown>) => unknown,
  ) {}
}

/** No values. */
export type None = Record<never, never>;
type ParamsOf<X> = X extends { readonly params: infer P } ? P : never;
type Both<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;
/** What a statement with the values `P` is called with: nothing when it has none. */
type Arguments<P> = keyof P extends never ? [] : [given: { [K in keyof P]: P[K] }];
/** What may stand in SQL: a {@link Param} or a {@link Fragment}. */
type Piece = { readonly params: unknown };

/** A value of PostgreSQL's type `cast`; `encode` turns it into what the driver writes. */
const kind =
  <T>(cast: string, encode: (value: T) => unknown = (value) => value) =>
  <N extends string>(name: N): Param<Record<N, T>> =>
    new Param(name, cast, (given) => encode(given[name] as T));

export const uuid = kind<string>('uuid');
export const uuidOrNull = kind<string | null>('uuid');
export const uuids = kind<readonly string[]>('uuid[]');
export const text = kind<string>('text');
export const textOrNull = kind<string | null>('text');
export const texts = kind<readonly string[]>('text[]');
export const textsOrNull = kind<readonly string[] | null>('text[]');
export const int = kind<number>('int');
export const intOrNull = kind<number | null>('int');
export const ints = kind<readonly number[]>('int[]');
export const bigint = kind<number>('bigint');
export const bigints = kind<readonly number[]>('bigint[]');
export const bigintOrNull = kind<number | null>('bigint');
export const doubleOrNull = kind<number | null>('float8');
export const doubles = kind<readonly number[]>('float8[]');
export const bool = kind<boolean>('boolean');
export const boolOrNull = kind<boolean | null>('boolean');
export const bytes = kind<Buffer>('bytea');
export const bytesOrNull = kind<Buffer | null>('bytea');
export const bytesOrNulls = kind<readonly (Buffer | null)[]>('bytea[]');
export const time = kind<Date | string>('timestamptz');
export const timeOrNull = kind<Date | string | null>('timestamptz');

/** A JSON value: `jsonb<Budget | null>()('budget')`. Null is SQL's NULL. */
export const jsonb = <T>() =>
  kind<T>('jsonb', (value) => (value === null || value === undefined ? null : JSON.stringify(value)));

/**
 * A value that is read out of another one: the statement takes the whole `name`, for example `auth`, and several fragments may
 * read different fields of it.
 *
 * @example
 * ```ts
 * const WORKSPACE = field<AuthContext>()('auth', 'workspaceId', 'uuid');
 * ```
 */
export const field =
  <T extends object>() =>
  <N extends string>(name: N, property: keyof T & string, cast: string): Param<Record<N, T>> =>
    new Param(`${name}.${property}`, cast, (given) => (given[name] as T)[property]);

/**
 * A piece of SQL with its values, made by {@link sql}. A fragment can stand in others; `rows` or `jsonRows` make a whole
 * statement of it. Define statements once, as constants: the text is then the same at each call, and PostgreSQL keeps its plan.
 */
export class Fragment<P> {
  declare readonly params: P;
  constructor(readonly parts: readonly (string | Param<unknown>)[]) {}

  /** The statement, whose rows are as the driver gives them. */
  rows<Row extends object = never>(): Statement<P, Row> {
    return statement(this, false);
  }

  /**
   * The statement, whose rows come as one JSON value each. The driver spends about 2 µs on every column of every answer, which
   * was 80 of the 1,200 µs of an authenticated read. Times come as text with their offset: {@link Json}.
   */
  jsonRows<Row extends object>(): Statement<P, Row> {
    return statement(sql`SELECT row_to_json(r) AS row FROM (${this}) r`, true) as Statement<P, Row>;
  }
}

/** A row as {@link Fragment.jsonRows} gives it: times as ISO 8601 text. */
export type Json<Row> = {
  [K in keyof Row]: Row[K] extends Date ? string : Row[K] extends Date | null ? string | null : Row[K];
};

/** A statement; called with its values it is ready to run: `tx.run(GET({ auth, id }))`. */
export type Statement<P, Row> = ((...given: Arguments<P>) => Query<Row>) & { readonly text: string };

/** A statement with its values. */
export class Query<Row> {
  declare readonly row: Row;
  constructor(
    /** The name of the prepared statement: PostgreSQL plans it once for a connection. */
    readonly name: string,
    readonly text: string,
    readonly values: unknown[],
    private readonly json: boolean,
  ) {}

  /** The same without a name: PostgreSQL plans it for these very values, each time. For what depends on how often a value occurs. */
  unprepared(): Query<Row> {
    return new Query<Row>('', this.text, this.values, this.json);
  }

  /** The rows of the driver's answer. */
  rowsOf({ rows }: { rows: unknown[] }): Row[] {
    return (this.json ? rows.map((one) => (one as { row: unknown }).row) : rows) as Row[];
  }
}

/**
 * Where statements run: a unit of work, a pool. Resolves with the rows, also those of `RETURNING`; rejects with the driver's
 * error (`database-errors.ts` turns it into the client's).
 */
export interface Sql {
  run<Row>(query: Query<Row>): Promise<Row[]>;
}

/** Puts SQL together. Only values, fragments and column lists may stand in it: plain text would be an open door. */
export function sql<const X extends readonly Piece[]>(
  strings: TemplateStringsArray,
  ...pieces: X
): Fragment<Both<ParamsOf<X[number]>>> {
  return new Fragment(
    strings.flatMap((string, n) => {
      const piece = pieces[n];
      if (piece === undefined) return [string];
      if (piece instanceof Param) return [string, piece];
      if (piece instanceof Fragment) return [string, ...(piece as Fragment<unknown>).parts];
      throw new TypeError('Only values and fragments may stand in SQL; constants go in by raw().');
    }),
  );
}

/** Text that is SQL already: a column's name, a constant. Never what comes from outside. */
export const raw = (constant: string): Fragment<None> => new Fragment([constant]);

/** Statements of one text share a name, so that a connection prepares it once. */
const NAMES = new Map<string, string>();

function statement<P, Row>({ parts }: Fragment<P>, json: boolean): Statement<P, Row> {
  const params: Param<unknown>[] = [];
  const rendered = parts.map((part) => (typeof part === 'string' ? part : placeholder(params, part))).join('');
  const name = NAMES.get(rendered) ?? `s${NAMES.size + 1}`;
  NAMES.set(rendered, name);
  const build = (given: Record<string, unknown> = {}): Query<Row> =>
    new Query<Row>(
      name,
      rendered,
      params.map((param) => param.read(given)),
      json,
    );
  return Object.assign(build, { text: rendered });
}

function placeholder(params: Param<unknown>[], param: Param<unknown>): string {
  const at = params.findIndex((one) => one.key === param.key);
  if (at >= 0 && params[at]?.cast !== param.cast) throw new Error(`The value '${param.key}' has two types.`);
  return `$${at < 0 ? params.push(param) : at + 1}::${param.cast}`;
}
