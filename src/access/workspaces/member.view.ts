import { z } from 'zod';
import { idSchema, named, timestampSchema } from '../../platform/http/schema.js';
import type { AuthContext } from '../auth/auth-context.js';
import type { MemberRow } from './memberships.sql.js';

const memberSchema = named(
  'Member',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    role: z.enum(['owner', 'admin', 'member', 'viewer']),
    kind: z.enum(['person', 'service']),
    email: z
      .string()
      .nullable()
      .describe('For the personal keys of owners and admins; null for others, and of a service account.'),
    access: z
      .enum(['none', 'invited', 'has_keys'])
      .nullable()
      .describe(
        'Whether the person can get in: `none` without a key, `invited` by a link that still works, `has_keys` after a log-in by one or with a key, also one that has ended. Null as `email` is.',
      ),
    origin: z
      .enum(['added', 'sign_in', 'directory'])
      .nullable()
      .describe(
        'What has made the person a member: `added` by the operator, an owner or an admin, `sign_in` by a rule of sign-in, `directory` by the directory of the company. Null as `email` is.',
      ),
    provider: z
      .string()
      .nullable()
      .describe('The issuer of the provider that signs the person in. Null where none does, and as `email` is.'),
    createdAt: timestampSchema.describe('When it became a member.'),
  }),
);

export const membersAnswer = named('MembersResponse', z.strictObject({ members: z.array(memberSchema) }));
export const memberAnswer = named('MemberResponse', z.strictObject({ member: memberSchema }));

/** A member as the caller sees it (reference §3): addresses and ways in are for people who manage the members. */
export function memberView(row: MemberRow, caller: AuthContext): z.output<typeof memberSchema> {
  const { userId, name, role, kind, email, access, origin, provider, createdAt } = row;
  const shown = caller.seesEverything && caller.credentialType === 'personal_api_key';
  const managed = shown
    ? { email, access, origin, provider }
    : { email: null, access: null, origin: null, provider: null };
  return { id: userId, name, role, kind, ...managed, createdAt: createdAt.toISOString() };
}
