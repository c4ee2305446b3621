import type { ExtensionSet } from '../plugins/extension-set.js';

/** A piece of JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

type Widened = (extensions: ExtensionSet) => JsonSchema;

const DOCUMENTED = Symbol('millwright:documented');

/**
 * Adds to what the document says of a class that bodies or queries are checked against, or of one of its fields, beyond what
 * its validators say: `@Documented({ description: '…' })`. For a validator of one's own it is the schema of that validator. Where
 * extensions add to what is taken, it is a function of them.
 */
export function Documented(schema: JsonSchema | Widened): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => {
    if (property === undefined) Reflect.defineMetadata(DOCUMENTED, schema, target);
    else Reflect.defineMetadata(DOCUMENTED, schema, target, property);
  };
}

/** What {@link Documented} says of a class, or of a field of it, its own or an inherited one. */
export function documented(type: { prototype: object }, property?: string, extensions?: ExtensionSet): JsonSchema {
  const found = (
    property === undefined
      ? Reflect.getMetadata(DOCUMENTED, type)
      : Reflect.getMetadata(DOCUMENTED, type.prototype, property)
  ) as JsonSchema | Widened | undefined;
  if (typeof found !== 'function') return found ?? {};
  return extensions === undefined ? {} : found(extensions);
}
