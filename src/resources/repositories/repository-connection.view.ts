import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { CONNECTION_KINDS, CONNECTION_STATUSES } from './repository-connection.entity.js';
import type { ConnectionRow } from './repository-connections.sql.js';

export const connectionSchema = named(
  'RepositoryConnection',
  z.strictObject({
    id: idSchema,
    host: z.string().describe('The host, with its port unless that is 443.'),
    hosting: z.enum(['github', 'gitlab']).describe('What serves the host.'),
    kind: z.enum(CONNECTION_KINDS),
    account: z.string().nullable().describe('Who the credential is at the host; null until a test has asked.'),
    paths: z.array(z.string()).describe('Which repositories it is for.'),
    push: z.array(z.string()).describe('Which branches tasks may push to.'),
    status: z.enum(CONNECTION_STATUSES).describe('`failed`: the host did not take the credential the last time.'),
    lastError: z.string().nullable().describe('What happened and what to do, exactly while the status is `failed`.'),
    createdBy: personSchema,
    createdAt: timestampSchema,
  }),
);

/** `{connection}` */
export const connectionAnswer = named('RepositoryConnectionResponse', z.strictObject({ connection: connectionSchema }));

/** A connection as clients see it: never with its credential (reference §15). */
export function connectionView(row: ConnectionRow): z.output<typeof connectionSchema> {
  const { id, host, hosting, kind, account, paths, push, status, lastError, createdBy, createdByName, createdAt } = row;
  const about = { id, host, hosting, kind, account, paths, push, status, lastError };
  return { ...about, createdBy: { id: createdBy, name: createdByName }, createdAt: createdAt.toISOString() };
}
