import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import type { EntryRow } from './chain.sql.js';

export const auditEntrySchema = named(
  'AuditEntry',
  z.strictObject({
    id: idSchema,
    at: timestampSchema,
    actor: personSchema
      .nullable()
      .describe('Who did it, or wanted to; null for the operator, and for the build of an environment.'),
    keyId: idSchema.nullable(),
    address: z.string().nullable().describe('The address that the request came from.'),
    action: z.string().describe('For example `task.create`; `request.many` where refusals were counted.'),
    target: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
    fields: z
      .array(z.string())
      .nullable()
      .describe(
        'Of a change that was done (`PATCH`): the names of the fields that were given, never what was in them. Of the use of a secret: by what, and at which host.',
      ),
    outcome: z.enum(['done', 'refused']),
    code: z.string().nullable().describe('Of a refusal: the `code` of the error.'),
    requestId: idSchema.nullable(),
    count: z.int().describe('More than 1: so many refusals of one key, beyond 60 in a minute, counted together.'),
  }),
);

export function auditEntryView(row: EntryRow): z.output<typeof auditEntrySchema> {
  const { id, at, actorId, actorName, keyId, address, action, targetType, targetId, fields, outcome, code } = row;
  return {
    id,
    at: at.toISOString(),
    actor: actorId === null ? null : { id: actorId, name: actorName ?? 'Deleted user' },
    keyId,
    address,
    action,
    target: targetType === null || targetId === null ? null : { type: targetType, id: targetId },
    fields,
    outcome,
    code,
    requestId: row.requestId,
    count: row.count,
  };
}
