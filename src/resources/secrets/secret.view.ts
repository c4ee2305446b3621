import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { HEADER_FORMS } from './binding.js';
import { SECRET_SCOPES } from './secret.entity.js';
import type { SecretRow } from './secrets.sql.js';

const place = named(
  'SecretPlace',
  z.union([
    z.strictObject({
      header: z.string(),
      form: z.enum(HEADER_FORMS),
      user: z.string().nullable().describe('With `basic`: the user name; null: whichever the request has.'),
    }),
    z.strictObject({ query: z.string().describe('The name of a parameter.') }),
  ]),
  { description: 'Where in a request the value stands.' },
);
const binding = named(
  'SecretBinding',
  z.strictObject({
    host: z.string(),
    port: z.int(),
    methods: z.array(z.string()).nullable().describe('Null: all.'),
    paths: z.array(z.string()).nullable().describe('Null: all.'),
    place,
  }),
);

export const secretSchema = named(
  'Secret',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    description: z.string().nullable(),
    scope: z.enum(SECRET_SCOPES),
    projectId: idSchema.nullable().describe('Not null exactly with the scope `project`.'),
    env: z.string().describe('The variable that has the placeholder inside of the sandbox.'),
    bindings: z.array(binding),
    version: z.int().min(1).describe('One more with each change of the value or the bindings.'),
    usedAt: timestampSchema.nullable(),
    createdBy: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

/** `{secret}` */
export const secretAnswer = named('SecretResponse', z.strictObject({ secret: secretSchema }));

/** A secret as clients see it: never with its value (reference §24). */
export function secretView(row: SecretRow): z.output<typeof secretSchema> {
  const { id, name, description, scope, projectId, env, bindings, version, usedAt, createdBy, createdByName } = row;
  return {
    ...{ id, name, description, scope, projectId, env, bindings, version },
    usedAt: usedAt?.toISOString() ?? null,
    createdBy: { id: createdBy, name: createdByName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
