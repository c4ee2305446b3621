import { z } from 'zod';
import { idSchema, named, personSchema, timestampSchema } from '../../platform/http/schema.js';
import { type Attempt, DELIVERY_STATUSES } from './webhook-delivery.entity.js';
import { DISABLED_CODES, WEBHOOK_STATUSES } from './webhook.entity.js';
import type { DeliveryRow, WholeDeliveryRow } from './webhook-deliveries.sql.js';
import type { WebhookRow } from './webhooks.sql.js';

const iso = (time: Date | null) => time?.toISOString() ?? null;

export const webhookSchema = named(
  'Webhook',
  z.strictObject({
    id: idSchema,
    url: z.string(),
    description: z.string().nullable(),
    types: z.array(z.string()),
    projectId: idSchema.nullable(),
    status: z.enum(WEBHOOK_STATUSES),
    disabledReason: z
      .strictObject({ code: z.enum(DISABLED_CODES), message: z.string().describe('For people.') })
      .nullable()
      .describe('Not null exactly while the status is `disabled`.'),
    secretPrefix: z.string().describe('`whsec_` and six characters of the secret.'),
    previousSecretUntil: timestampSchema.nullable().describe('How long the former secret signs too.'),
    failingSince: timestampSchema.nullable().describe('The first failed attempt since the last success.'),
    lastSuccessAt: timestampSchema.nullable(),
    createdBy: personSchema,
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
  }),
);

/** `{webhook}` */
export const webhookAnswer = named('WebhookResponse', z.strictObject({ webhook: webhookSchema }));

/** `{webhook, secret}` */
export const madeWebhookAnswer = named(
  'MadeWebhookResponse',
  z.strictObject({
    webhook: webhookSchema,
    secret: z.string().describe('What deliveries are signed with. It is shown this once.'),
  }),
);

const attemptFields = {
  at: timestampSchema,
  durationMs: z.int().min(0),
  status: z.int().nullable().describe('Of the answer; null when none came.'),
  error: z.string().nullable().describe('Why no answer came; null when one did.'),
};
const lastAttempt = z.strictObject(attemptFields);
const attempt = named(
  'WebhookAttempt',
  z.strictObject({
    ...attemptFields,
    response: z.string().nullable().describe('The first KiB of the answer, kept when it came from a public address.'),
  }),
);

const deliveryFields = {
  id: idSchema,
  webhookId: idSchema,
  eventId: z.string().describe('As `webhook-id` has it: the same at every attempt, redelivery and endpoint.'),
  eventType: z.string(),
  taskId: idSchema.nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int().min(0),
  nextAttemptAt: timestampSchema.nullable().describe('Not null exactly while it is pending.'),
  lastAttempt: lastAttempt.nullable(),
  redelivery: z.boolean().describe('Made by `redeliver` or `recover`.'),
  createdAt: timestampSchema,
};
export const deliverySchema = named('WebhookDelivery', z.strictObject(deliveryFields));
export const wholeDeliverySchema = named(
  'WholeWebhookDelivery',
  z.strictObject({
    ...deliveryFields,
    body: z.string().describe('The string that is signed.'),
    attemptLog: z.array(attempt).describe('Oldest first.'),
  }),
);

/** `{delivery}` */
export const deliveryAnswer = named('WebhookDeliveryResponse', z.strictObject({ delivery: deliverySchema }));
export const wholeDeliveryAnswer = named(
  'WholeWebhookDeliveryResponse',
  z.strictObject({ delivery: wholeDeliverySchema }),
);
/** `{count}` */
export const recoveredAnswer = named(
  'WebhookRecovery',
  z.strictObject({ count: z.int().min(0).describe('How many deliveries were made; of more than 10000 the oldest.') }),
);

/** A webhook as clients see it (reference §18). */
export function webhookView(row: WebhookRow): z.output<typeof webhookSchema> {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    types: row.types,
    projectId: row.projectId,
    status: row.status,
    disabledReason: row.disabledReason,
    secretPrefix: row.secretPrefix,
    previousSecretUntil: iso(row.previousSecretUntil),
    failingSince: iso(row.failingSince),
    lastSuccessAt: iso(row.lastSuccessAt),
    createdBy: { id: row.createdBy, name: row.createdByName },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A delivery as lists show it (reference §18). */
export function deliveryView(row: DeliveryRow): z.output<typeof deliverySchema> {
  return {
    id: row.id,
    webhookId: row.webhookId,
    eventId: row.eventId,
    eventType: row.eventType,
    taskId: row.taskId,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: iso(row.nextAttemptAt),
    lastAttempt: row.lastAttempt === null ? null : withoutResponse(row.lastAttempt),
    redelivery: row.redelivery,
    createdAt: row.createdAt.toISOString(),
  };
}

export function wholeDeliveryView(row: WholeDeliveryRow): z.output<typeof wholeDeliverySchema> {
  return { ...deliveryView(row), body: row.body, attemptLog: row.attemptLog };
}

function withoutResponse({ at, durationMs, status, error }: Attempt): z.output<typeof lastAttempt> {
  return { at, durationMs, status, error };
}
