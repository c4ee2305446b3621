// What is encrypted in the database, and under which key.
import { HEADER, keyIdOf, type Sealing } from '../../platform/config/sealing.js';
import type { SealedColumn } from '../../platform/database/sealed.js';
import { sealedColumns } from '../../platform/database/sealed.js';
import { bytes, bytesOrNulls, int, raw, type Sql, sql, text, texts } from '../../platform/database/sql.js';
import { ENTITIES } from '../entities.js';

const PAGE = 500;
/** Before every row. */
const FIRST = '(0,0)';

interface Row {
  /** Where it lies. */
  place: string;
  ids: string[];
  sealed: Buffer;
}

/** The statements of one column. Rows are walked through in the order in which they lie, whatever their primary key is. */
function statements({ table, column, of }: SealedColumn) {
  const [from, value] = [raw(table), raw(`t.${column}`)];
  const ids = raw(`ARRAY[${of.map((one) => `t.${one}::text`).join(', ')}]`);
  const found = sql`
SELECT t.ctid::text AS place, ${ids} AS ids, ${value} AS sealed FROM ${from} t
WHERE t.ctid > ${text('after')}::tid AND ${value} IS NOT NULL`;
  const others = sql`substr(${value}, 1, ${raw(String(HEADER))}) <> ${bytes('header')}`;
  const page = sql`ORDER BY t.ctid LIMIT ${int('limit')}`;
  return {
    all: sql`${found} ${page}`.rows<Row>(),
    /** Holds those that do not begin with a header, but for what others hold. */
    others: sql`${found} AND ${others} ${page} FOR NO KEY UPDATE SKIP LOCKED`.rows<Row>(),
    countOthers: sql`SELECT count(*)::int AS count FROM ${from} t WHERE ${others}`.rows<{ count: number }>(),
    put: sql`
UPDATE ${from} t SET ${raw(column)} = n.sealed
FROM unnest(${texts('places')}, ${bytesOrNulls('values')}) n(place, sealed) WHERE t.ctid = n.place::tid`.rows(),
  };
}

/** Every column with sealed bytes, with its statements. */
export const SEALED = sealedColumns(ENTITIES).map((column) => ({ ...column, ...statements(column) }));
export type Sealed = (typeof SEALED)[number];

/** A database of an older version has not all of them: a backup and `doctor` migrate nothing. */
const THERE = sql`
SELECT format('%s.%s', table_name, column_name) AS name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type = 'bytea'`.rows<{ name: string }>();

/** How many values of a column are under one key. */
export interface ValuesUnderKey {
  /** `connections.secret`. */
  column: string;
  /** The key's id, 8 hexadecimal digits; null for what names no key, and opens under none that is there. */
  key: string | null;
  secret: 'current' | 'previous' | 'unknown';
  values: number;
}

/** Reads and opens all of them. */
export async function valuesUnderKeys(database: Sql, sealing: Sealing): Promise<ValuesUnderKey[]> {
  const found: ValuesUnderKey[] = [];
  const there = new Set((await database.run(THERE())).map(({ name }) => name));
  for (const one of SEALED.filter(({ table, column }) => there.has(`${table}.${column}`))) {
    const counts = new Map<string | null, number>();
    let after = FIRST;
    for (;;) {
      const rows = await database.run(one.all({ after, limit: PAGE }));
      for (const row of rows) {
        const key = opened(sealing, one, row)?.keyId ?? keyIdOf(row.sealed);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.place ?? after;
    }
    for (const [key, values] of counts) {
      found.push({ column: `${one.table}.${one.column}`, key, secret: secretOf(sealing, key), values });
    }
  }
  return found;
}

/** A page of one column, from `after` on, sealed anew: what is not under the current key. Null at the end. In a transaction. */
export async function sealPage(
  tx: Sql,
  sealing: Sealing,
  one: Sealed,
  after = FIRST,
): Promise<{ after: string; sealed: number; unreadable: number } | null> {
  const rows = await tx.run(one.others({ after, limit: PAGE, header: sealing.header }));
  const last = rows.at(-1);
  if (last === undefined) return null;
  const renewed = rows.flatMap((row) => {
    const text = opened(sealing, one, row)?.text;
    return text === undefined ? [] : { place: row.place, value: sealing.sealNamed(one.owner(...row.ids), text) };
  });
  await tx.run(one.put({ places: renewed.map(({ place }) => place), values: renewed.map(({ value }) => value) }));
  return { after: last.place, sealed: renewed.length, unreadable: rows.length - renewed.length };
}

function opened(sealing: Sealing, { owner }: Sealed, { ids, sealed }: Row) {
  try {
    return sealing.opened(owner(...ids), sealed);
  } catch {
    return null;
  }
}

function secretOf(sealing: Sealing, key: string | null): ValuesUnderKey['secret'] {
  if (key === sealing.keyId) return 'current';
  return key !== null && key === sealing.previousKeyId ? 'previous' : 'unknown';
}
