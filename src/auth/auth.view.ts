import type { AuthContext } from './auth-context.js';

/** `GET /v1/auth/context` (reference §3). */
export function authContextView({ user, workspace, role, scopes, credentialType, credential }: AuthContext) {
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
