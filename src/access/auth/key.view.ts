import { z } from 'zod';
import { idSchema, named, scopeSchema, timestampSchema } from '../../platform/http/schema.js';
import type { AuthContext } from './auth-context.js';
import type { OwnKeyRow } from './key-rules.js';
import type { MadeKey } from './own-keys.service.js';

export const keySchema = named(
  'Key',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    prefix: z.string().describe('The kind of the key and six characters of it.'),
    scopes: z.array(scopeSchema),
    createdAt: timestampSchema,
    expiresAt: timestampSchema.nullable(),
    lastUsedAt: timestampSchema.nullable().describe('To about a minute.'),
    current: z.boolean().describe('Whether it is the key of this request.'),
  }),
);

export const keysAnswer = named('KeysResponse', z.strictObject({ keys: z.array(keySchema) }));

export const madeKeyAnswer = named(
  'MadeKeyResponse',
  z.strictObject({ key: keySchema, secret: z.string().describe('The key itself. It is shown this once.') }),
);

/** A key as its owner sees it (reference §3). */
export function keyView(row: OwnKeyRow, auth: AuthContext): z.output<typeof keySchema> {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    current: row.id === auth.credential.id,
  };
}

export function madeKeyView({ key, secret }: MadeKey, auth: AuthContext): z.output<typeof madeKeyAnswer> {
  return { key: keyView(key, auth), secret };
}
