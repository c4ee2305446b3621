import { z } from 'zod';
import { idSchema, named } from '../../platform/http/schema.js';
import type { MemberRow } from './memberships.sql.js';

const memberSchema = named(
  'Member',
  z.strictObject({
    id: idSchema,
    name: z.string(),
    role: z.enum(['owner', 'admin', 'member', 'viewer']),
    kind: z.enum(['person', 'service']),
  }),
);

export const membersAnswer = named('MembersResponse', z.strictObject({ members: z.array(memberSchema) }));

/** A member as the others of its workspace see it (reference §3): without its address. */
export function memberView({ userId, name, role, kind }: MemberRow): z.output<typeof memberSchema> {
  return { id: userId, name, role, kind };
}
