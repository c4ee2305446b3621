/** A piece of JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

const DOCUMENTED = Symbol('millwright:documented');

/**
 * Adds to what the document says of a class that bodies or queries are checked against, or of one of its fields, beyond what
 * its validators say: `@Documented({ description: '…' })`. For a validator of one's own it is the schema of that validator.
 */
export function Documented(schema: JsonSchema): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => {
    if (property === undefined) Reflect.defineMetadata(DOCUMENTED, schema, target);
    else Reflect.defineMetadata(DOCUMENTED, schema, target, property);
  };
}

/** What {@link Documented} says of a class, or of a field of it, its own or an inherited one. */
export function documented(type: { prototype: object }, property?: string): JsonSchema {
  const found: unknown =
    property === undefined
      ? Reflect.getMetadata(DOCUMENTED, type)
      : Reflect.getMetadata(DOCUMENTED, type.prototype, property);
  return (found as JsonSchema | undefined) ?? {};
}
