// Columns that many entities have, and the list of an entity's columns for a statement.
import { Column, type ColumnOptions, getMetadataArgsStorage, type ObjectType, PrimaryColumn } from 'typeorm';
import { PostgresNaming } from './naming.js';
import { type Fragment, type None, raw } from './sql.js';

/** The program makes the id (docs/decisions/0005). */
export const Id = (): PropertyDecorator => PrimaryColumn('uuid');

/** timestamptz(3): what a client sees in milliseconds is exactly what a keyset cursor compares. */
export const Timestamp = (options: ColumnOptions = {}): PropertyDecorator =>
  Column('timestamptz', { precision: 3, ...options });

/** When the row was inserted, by the clock of the database. */
export const CreatedAt = (): PropertyDecorator => Timestamp({ default: () => 'now()', update: false });

/** bigint as a number: exact up to 2^53. The driver gives bigint as text. */
export const Big = (options: ColumnOptions = {}): PropertyDecorator =>
  Column('bigint', {
    transformer: {
      from: (text: string | null) => (text === null ? null : Number(text)),
      to: (value: number | null) => value,
    },
    ...options,
  });

/** Columns of a statement, and the type of the row that they make: `typeof TASK.row`. */
export type ColumnList<Row> = Fragment<None> & { readonly row: Row };

const NAMING = new PostgresNaming();

/**
 * Columns of an entity under an alias: `p.created_at AS "createdAt"`. bigint is selected as float8, exact up to 2^53.
 *
 * @example
 * ```ts
 * const PROJECT = columns(Project, 'p', ['id', 'name', 'createdAt']);
 * const GET = sql`SELECT ${PROJECT} FROM projects p WHERE p.id = ${uuid('id')}`.rows<typeof PROJECT.row>();
 * ```
 * Throws when a property is not a column of the entity.
 */
export function columns<E extends object, K extends keyof E & string>(
  entity: ObjectType<E>,
  alias: string,
  properties: readonly K[],
): ColumnList<Pick<E, K>> {
  const known = new Map(
    getMetadataArgsStorage()
      .filterColumns(entity)
      .map((one) => [one.propertyName, one.options]),
  );
  const texts = properties.map((property) => {
    const options = known.get(property);
    if (options === undefined) throw new Error(`${entity.name}.${property} is not a column.`);
    const cast = options.type === 'bigint' ? '::float8' : '';
    return `${alias}.${NAMING.columnName(property, options.name, [])}${cast} AS "${property}"`;
  });
  // `row` is a type alone: nothing reads its value.
  return Object.assign(raw(texts.join(', ')), { row: undefined as unknown as Pick<E, K> });
}
