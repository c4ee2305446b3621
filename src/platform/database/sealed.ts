// Which columns hold sealed bytes: the entity says it beside the column, and all that goes over them reads it here.
import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { PostgresNaming } from './naming.js';

/** As whose a value of some columns is sealed. */
type Owner = (...ids: string[]) => string;

/** A column with sealed bytes. */
export interface SealedColumn {
  table: string;
  /** In SQL. */
  column: string;
  /** In SQL, those whose values {@link owner} takes. */
  of: readonly string[];
  owner: Owner;
}

const DECLARED = new WeakMap<object, { property: string; owner: Owner; of: readonly string[] }[]>();
const NAMING = new PostgresNaming();

/**
 * A bytea column that `Sealing` has written: `secret-key rotate` goes over it.
 * @param owner as whose it is sealed.
 * @param of the properties that `owner` takes. They never change.
 *
 * @example
 * ```ts
 * @Sealed(ownerOf, 'id') @Column('bytea') secret: Buffer;
 * ```
 */
export function Sealed(owner: Owner, ...of: readonly string[]): PropertyDecorator {
  return ({ constructor }, property) => {
    DECLARED.set(constructor, [...(DECLARED.get(constructor) ?? []), { property: String(property), owner, of }]);
  };
}

/** Those of some entities. Throws when a property is not a column. */
export function sealedColumns(entities: readonly ObjectType<object>[]): SealedColumn[] {
  return entities.flatMap((entity) => {
    const columns = getMetadataArgsStorage().filterColumns(entity);
    const inSql = (property: string): string => {
      const found = columns.find((one) => one.propertyName === property);
      if (found === undefined) throw new Error(`${entity.name}.${property} is not a column.`);
      return NAMING.columnName(property, found.options.name, []);
    };
    const [table] = getMetadataArgsStorage().filterTables(entity);
    return (DECLARED.get(entity) ?? []).map(({ property, owner, of }) => {
      return { table: String(table?.name), column: inSql(property), of: of.map(inSql), owner };
    });
  });
}
