import { z } from 'zod';
import { idSchema, named, timestampSchema } from '../../platform/http/schema.js';
import { connectionStateSchema, stateOf } from './integration.view.js';
import type { KeptConnection } from './member-connections.js';

const connectionSchema = named(
  'IntegrationConnection',
  z.strictObject({
    id: idSchema,
    slug: z.string(),
    scope: z.enum(['workspace', 'user']),
    state: connectionStateSchema,
    path: z.string().describe('Where the provider delivers to, at the address of this service.'),
    url: z.string().nullable().describe('The same with the address; null where the operator has set no PUBLIC_URL.'),
    previousSecretUntil: timestampSchema.nullable().describe('Until when the secret of before is taken too.'),
    lastDeliveryAt: timestampSchema.nullable(),
    testable: z.boolean().describe('Whether the provider has a delivery that starts nothing, for a test.'),
    createdAt: timestampSchema,
  }),
);

export const connectionsAnswer = named(
  'IntegrationConnectionsResponse',
  z.strictObject({ connections: z.array(connectionSchema) }),
);

export const connectedAnswer = named(
  'ConnectedResponse',
  z.strictObject({
    connection: connectionSchema,
    secret: z.string().describe('What the provider signs with: enter it there. It is shown this once.'),
  }),
);

/** A connection as those see it who may change it (reference §13). */
export function connectionView(row: KeptConnection): z.output<typeof connectionSchema> {
  const { id, slug, userId, path, url, testable } = row;
  return {
    id,
    slug,
    scope: userId === null ? 'workspace' : 'user',
    state: stateOf(row),
    path,
    url,
    previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
    lastDeliveryAt: row.lastDeliveryAt?.toISOString() ?? null,
    testable,
    createdAt: row.createdAt.toISOString(),
  };
}
