import type { AuthContext, Key } from '../../api/client.ts';

export type Scope = AuthContext['scopes'][number];

export { ALL_SCOPES } from '../../shell/administration.ts';

/** Whether the session may rotate and revoke a key: it is its own, or no wider and no longer good (reference §3). */
export function isWithin(key: Key, { scopes, credential: { expiresAt } }: AuthContext): boolean {
  if (key.current) return true;
  const ends = expiresAt === null || (key.expiresAt !== null && key.expiresAt <= expiresAt);
  return ends && key.scopes.every((scope) => scopes.includes(scope));
}
