import { z } from 'zod';
import { idSchema, named, timestampSchema, timestampView } from '../../platform/http/schema.js';
import { type Verdict, VERDICTS } from './hook-delivery.entity.js';
import type { DeliveryRow } from './hooks/hook-deliveries.sql.js';
import type { IntegrationDescription } from './integration-provider.js';
import type { StateRow } from './integrations.sql.js';

export type ConnectionState = 'connected' | 'not_connected' | 'error';
export const connectionStateSchema = named('ConnectionState', z.enum(['connected', 'not_connected', 'error']), {
  description: '`error`: connected, and the last delivery was refused.',
});

export const integrationSchema = named(
  'Integration',
  z.strictObject({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    category: z.string(),
    connected: z.boolean().describe('Whether an automation of the caller can be bound to it.'),
    connections: z.strictObject({
      workspace: connectionStateSchema.describe("The workspace's connection."),
      user: connectionStateSchema.describe("The caller's own, which comes first."),
    }),
    triggerEvents: z.array(
      z.strictObject({
        name: z.string().describe('For `triggerEvent` of an automation: `github.push`.'),
        description: z.string(),
      }),
    ),
  }),
);

export const deliverySchema = named(
  'IntegrationDelivery',
  z.strictObject({
    at: timestampSchema,
    event: z.string().nullable().describe('Null where nothing vouches for it.'),
    deliveryId: z.string().nullable().describe("The provider's own id of the delivery."),
    verdict: z.enum(VERDICTS),
    runIds: z.array(idSchema).describe('The runs that it made, of automations that the caller sees.'),
  }),
);

export type Delivery = z.output<typeof deliverySchema>;

const FAULTS: readonly Verdict[] = ['bad_signature', 'malformed', 'unreadable_secret'];

/** The state of a connection by the newest entry of its log, null for none. */
export function stateOf({ verdict }: { verdict: Verdict | null }): ConnectionState {
  return verdict !== null && FAULTS.includes(verdict) ? 'error' : 'connected';
}

/** An integration as clients see it (reference §13): no id, secret or account of a connection. `rows`: the caller's connections. */
export function integrationView(
  { slug, name, description, category, triggerEvents }: IntegrationDescription,
  rows: readonly StateRow[],
): z.output<typeof integrationSchema> {
  const state = (own: boolean): ConnectionState => {
    const found = rows.find((row) => row.slug === slug && row.own === own);
    return found === undefined ? 'not_connected' : stateOf(found);
  };
  const connections = { workspace: state(false), user: state(true) };
  const connected = Object.values(connections).some((one) => one !== 'not_connected');
  const events = triggerEvents.map((event) => ({ name: `${slug}.${event.name}`, description: event.description }));
  return { slug, name, description, category, connected, connections, triggerEvents: events };
}

/** An entry in the log of deliveries (reference §13); never the body. */
export function deliveryView(row: DeliveryRow): Delivery {
  const { at, event, deliveryId, verdict, runIds } = row;
  return { at: timestampView(at), event, deliveryId, verdict, runIds };
}
