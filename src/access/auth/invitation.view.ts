import { z } from 'zod';
import { named, timestampSchema } from '../../platform/http/schema.js';
import type { Invitation } from './invitations.service.js';

const invitationSchema = named(
  'Invitation',
  z.strictObject({
    url: z
      .string()
      .nullable()
      .describe(
        'What the member opens. Null where the service does not know its own address: append `/console/settings?part=keys#code=` and the code to the address by which people reach it.',
      ),
    code: z.string().describe('What logs in to the console once. It is shown this once.'),
    expiresAt: timestampSchema.describe('72 hours from now.'),
  }),
);
export const invitationAnswer = named('InvitationResponse', z.strictObject({ invitation: invitationSchema }));

export function invitationView({ url, code, expiresAt }: Invitation): z.output<typeof invitationAnswer> {
  return { invitation: { url, code, expiresAt: expiresAt.toISOString() } };
}
