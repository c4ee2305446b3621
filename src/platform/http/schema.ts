// Schemas of what the service answers. Each stands beside its view, whose return type is made of it: when document and answer
// drift apart, the compiler says so.
import { z } from 'zod';

/** The schemas that have a name in the document (`components.schemas`). */
export const SCHEMAS = z.registry<{ id: string; format?: string; description?: string }>();

interface Named {
  description?: string;
  format?: string;
}

/** Gives a schema its name in the document. Throws when another one has it. */
export function named<T extends z.ZodType>(id: string, schema: T, more: Named = {}): T {
  if (SCHEMAS._idmap.has(id)) throw new Error(`Two schemas are called '${id}' in the document. Rename one.`);
  SCHEMAS.add(schema, { id, ...more });
  return schema;
}

export const idSchema = named(
  'Id',
  z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  { description: 'A UUIDv7.', format: 'uuid' },
);

export const timestampSchema = named('Timestamp', z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), {
  description: 'ISO 8601, UTC, milliseconds.',
  format: 'date-time',
});

/** Turns a time as PostgreSQL writes it into JSON into the form of the answers. */
export function timestampView(text: string): string {
  return new Date(text).toISOString();
}

/** A person or service account, where it is named beside something. */
export const personSchema = named('Person', z.strictObject({ id: idSchema, name: z.string() }));

export const deletedSchema = named('Deleted', z.strictObject({ deleted: z.literal(true), id: idSchema }), {
  description: 'The delete result. Deleting again is 404.',
});

/** `{tasks: […], nextCursor}`: one page of a collection. */
export function pageSchema<const K extends string, T extends z.ZodType>(key: K, item: T) {
  const nextCursor = z.string().nullable().describe('For the query parameter `cursor`; null at the end.');
  return z.strictObject({ [key]: z.array(item), nextCursor } as Record<K, z.ZodArray<T>> & {
    nextCursor: typeof nextCursor;
  });
}
