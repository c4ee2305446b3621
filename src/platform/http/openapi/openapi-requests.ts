// Makes the bodies and queries of the document from the classes that they are checked against. A process that serves no
// API does not load it, because nothing else needs the conversion.
import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import type { ExtensionSet } from '../../plugins/extension-set.js';
import { documented, type JsonSchema } from '../documented.js';

type Options = NonNullable<Parameters<typeof targetConstructorToSchema>[1]>;
type TransformStorage = NonNullable<Options['classTransformerMetadataStorage']>;

// class-transformer keeps here what `@Type` said, and has no public way to it.
const { defaultMetadataStorage } = createRequire(import.meta.url)('class-transformer/cjs/storage.js') as {
  defaultMetadataStorage: TransformStorage;
};

export const COMPONENTS = '#/components/schemas/';

const OPTIONS: Options = {
  refPointerPrefix: COMPONENTS,
  classTransformerMetadataStorage: defaultMetadataStorage,
  additionalConverters: {
    // The type comes from IsInt or IsNumber; the package's own converters would make every bounded integer a number.
    min: ({ constraints }) => ({ minimum: Number(constraints[0]) }),
    max: ({ constraints }) => ({ maximum: Number(constraints[0]) }),
    // A schema's pattern has no flags, so one with a flag that matters is left to @Documented.
    matches: ({ constraints }) => {
      const [pattern] = constraints as [RegExp];
      return pattern.flags.includes('i') ? {} : { pattern: pattern.source };
    },
    // Beside @ValidateNested, which has the type.
    isInstance: {},
    // A validator of one's own says its schema by @Documented.
    customValidation: {},
  },
};

interface Property {
  name: string;
  schema: JsonSchema;
  required: boolean;
}

/** A query has no way to say null. */
const QUERY = { nullable: false };

/** Collects the classes of bodies as components of the document. */
export class RequestSchemas {
  readonly components: Record<string, JsonSchema> = {};
  private readonly seen = new Map<string, Type<object>>();

  constructor(private readonly extensions: ExtensionSet) {}

  /** A body as a reference to its component. */
  body(type: Type<object>): JsonSchema {
    const name = type.name.replace(/(Dto|Body)$/, '');
    const other = this.seen.get(name);
    if (other !== undefined && other !== type) {
      const both = `${other.name} with ${fieldsOf(other)} and ${type.name} with ${fieldsOf(type)}`;
      throw new Error(`Two classes of request bodies would be called '${name}' in the document: ${both}. Rename one.`);
    }
    if (other === undefined) {
      this.seen.set(name, type);
      const properties = this.properties(type);
      const required = properties.filter((property) => property.required).map((property) => property.name);
      this.components[name] = {
        type: 'object',
        ...documented(type),
        properties: Object.fromEntries(properties.map((property) => [property.name, property.schema])),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      };
    }
    return { $ref: COMPONENTS + name };
  }

  /** The parameters of a query. */
  parameters(type: Type<object>): Property[] {
    return this.properties(type, QUERY);
  }

  private properties(type: Type<object>, { nullable } = { nullable: true }): Property[] {
    const { properties = {}, required = [] } = targetConstructorToSchema(type, OPTIONS);
    const defaults = new type() as Record<string, unknown>;
    return Object.entries(properties).map(([name, converted]) => {
      const given = defaults[name];
      const schema: JsonSchema = {
        ...this.resolved(type, name, converted as JsonSchema),
        ...(given === undefined ? {} : { default: given }),
        ...documented(type, name, this.extensions),
      };
      return {
        name,
        schema: nullable && takesNull(type, name) ? orNull(schema) : schema,
        required: required.includes(name) && given === undefined,
      };
    });
  }

  /** Nested classes become components of their own, under their own names. */
  private resolved(type: Type<object>, name: string, schema: JsonSchema): JsonSchema {
    const nested = defaultMetadataStorage.findTypeMetadata(type, name) as { typeFunction(): unknown } | undefined;
    if (nested === undefined || !JSON.stringify(schema).includes('"$ref"')) return schema;
    const ref = this.body(nested.typeFunction() as Type<object>);
    return schema['type'] === 'array' ? { ...schema, items: ref } : ref;
  }
}

function fieldsOf(type: Type<object>): string {
  const fields = getMetadataStorage().getTargetValidationMetadatas(type, '', true, false);
  return [...new Set(fields.map(({ propertyName }) => propertyName))].join(', ');
}

/** Whether null counts as absent (`@IsOptional`). It asks the condition itself. */
function takesNull(type: Type<object>, name: string): boolean {
  const conditions = getMetadataStorage()
    .getTargetValidationMetadatas(type, '', true, false)
    .filter((meta) => meta.propertyName === name && meta.type === 'conditionalValidation');
  return conditions.some(({ constraints: [condition] }) => {
    return (condition as (object: object, value: unknown) => boolean)({ [name]: null }, null) === false;
  });
}

function orNull(schema: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  const said = description === undefined ? {} : { description };
  if (typeof rest['type'] === 'string' && rest['enum'] === undefined)
    return { ...schema, type: [rest['type'], 'null'] };
  return { anyOf: [rest, { type: 'null' }], ...said };
}
