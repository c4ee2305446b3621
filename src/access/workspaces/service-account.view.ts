import { z } from 'zod';
import { idSchema, named, timestampSchema } from '../../platform/http/schema.js';
import type { ServiceAccount } from './service-accounts.service.js';

const serviceAccountSchema = named(
  'ServiceAccount',
  z.strictObject({
    id: idSchema.describe('Its id as a member too.'),
    name: z.string(),
    role: z.enum(['owner', 'admin', 'member', 'viewer']),
    createdAt: timestampSchema,
  }),
);

export const serviceAccountsAnswer = named(
  'ServiceAccountsResponse',
  z.strictObject({ serviceAccounts: z.array(serviceAccountSchema) }),
);
export const serviceAccountAnswer = named(
  'ServiceAccountResponse',
  z.strictObject({ serviceAccount: serviceAccountSchema }),
);

/** A service account (reference §3). */
export function serviceAccountView(row: ServiceAccount): z.output<typeof serviceAccountSchema> {
  const { id, name, role, createdAt } = row;
  return { id, name, role, createdAt: createdAt.toISOString() };
}
