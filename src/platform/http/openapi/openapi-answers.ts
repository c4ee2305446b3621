// Makes the answers of the document from the schemas that stand beside the views.
import { z } from 'zod';
import type { JsonSchema } from '../documented.js';
import { COMPONENTS } from './openapi-requests.js';
import { SCHEMAS, WIDENED } from '../schema.js';
import type { ExtensionSet } from '../../plugins/extension-set.js';

/** Collects the schemas of answers as components of the document. */
export class AnswerSchemas {
  private readonly registry = z.registry<{ id: string }>();

  constructor(private readonly extensions: ExtensionSet) {
    for (const [id, schema] of SCHEMAS._idmap) this.registry.add(schema, { id });
  }

  /** A reference to a schema. One without a name is called after its operation. */
  ref(schema: z.ZodType, operationId: string): JsonSchema {
    const given = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Response`;
    const id = this.registry.get(schema)?.id ?? given;
    if (!this.registry.has(schema)) this.registry.add(schema, { id });
    return { $ref: COMPONENTS + id };
  }

  components(): Record<string, JsonSchema> {
    const { schemas } = z.toJSONSchema(this.registry, {
      uri: (id) => COMPONENTS + id,
      override: ({ jsonSchema, zodSchema }) => {
        const { id: _id, ...more } = SCHEMAS.get(zodSchema as unknown as z.ZodType) ?? {};
        if (jsonSchema.$ref === undefined) Object.assign(jsonSchema, more);
        WIDENED.get(zodSchema)?.(jsonSchema, this.extensions);
        // z.int() adds the bounds of exact numbers, which say nothing to a client.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    });
    return Object.fromEntries(
      Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema as JsonSchema]),
    );
  }
}
