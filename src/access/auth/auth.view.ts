import { z } from 'zod';
import { idSchema, named, scopeSchema, timestampSchema } from '../../platform/http/schema.js';
import type { AuthContext } from './auth-context.js';

export const authContextSchema = named(
  'AuthContext',
  z.strictObject({
    user: z.strictObject({
      id: idSchema,
      name: z.string(),
      email: z.string().nullable().describe('Null for a service account.'),
    }),
    workspace: z.strictObject({
      id: idSchema,
      name: z.string(),
      slug: z.string(),
      role: z.enum(['owner', 'admin', 'member', 'viewer']),
    }),
    scopes: z.array(scopeSchema),
    credentialType: z.enum(['personal_api_key', 'service']),
    credential: z.strictObject({
      id: idSchema,
      name: z.string(),
      prefix: z.string(),
      createdAt: timestampSchema,
      expiresAt: timestampSchema.nullable(),
    }),
  }),
);

/** `GET /v1/auth/context` (reference §3). */
export function authContextView(auth: AuthContext): z.output<typeof authContextSchema> {
  const { user, workspace, role, scopes, credentialType, credential } = auth;
  return {
    user: { id: user.id, name: user.name, email: user.email },
    workspace: { id: workspace.id, name: workspace.name, slug: workspace.slug, role },
    scopes: [...scopes],
    credentialType,
    credential: {
      id: credential.id,
      name: credential.name,
      prefix: credential.prefix,
      createdAt: credential.createdAt.toISOString(),
      expiresAt: credential.expiresAt?.toISOString() ?? null,
    },
  };
}
