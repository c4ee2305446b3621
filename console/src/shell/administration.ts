import type { AuthContext } from '../api/client.ts';
import { useContext } from './can.ts';

export const ALL_SCOPES: AuthContext['scopes'][number][] = [
  'tasks:read',
  'tasks:write',
  'files:read',
  'files:write',
  'projects:read',
  'projects:write',
  'automations:read',
  'automations:write',
  'integrations:read',
  'billing:read',
];

/** Why the session does not administer the workspace (reference §3): its role, or its key, which is no personal one with all scopes. */
export function useHindrance(): 'role' | 'key' | null {
  const { credentialType, scopes, workspace } = useContext();
  if (workspace.role !== 'owner' && workspace.role !== 'admin') return 'role';
  return credentialType === 'personal_api_key' && ALL_SCOPES.every((scope) => scopes.includes(scope)) ? null : 'key';
}

export const useAdministers = (): boolean => useHindrance() === null;
