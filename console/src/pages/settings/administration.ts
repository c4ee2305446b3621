import type { AuthContext, Member } from '../../api/client.ts';
import { useContext } from '../../shell/can.ts';
import { ALL_SCOPES } from './scopes.ts';

/** In the order in which they are offered: what most people are first. */
export const ROLES = ['member', 'admin', 'owner', 'viewer'] as const;
export type Role = Member['role'];

/** Why the session changes no members and service accounts (reference §3); null when it may. */
export function useHindrance(): 'role' | 'key' | null {
  const { credentialType, scopes, workspace } = useContext();
  if (workspace.role !== 'owner' && workspace.role !== 'admin') return 'role';
  return credentialType === 'personal_api_key' && ALL_SCOPES.every((scope) => scopes.includes(scope)) ? null : 'key';
}

/** The roles that it gives, and those whom it may change: an admin has nothing to do with owners. */
export const rolesOf = ({ workspace }: AuthContext): Role[] =>
  ROLES.filter((role) => role !== 'owner' || workspace.role === 'owner');
