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

type Hindrance = 'role' | 'key' | null;

/** Why the session does not change the repository connections (reference §4): its role, or its key, which is no personal one. */
export function useConnectHindrance(): Hindrance {
  const { credentialType, workspace } = useContext();
  if (workspace.role !== 'owner' && workspace.role !== 'admin') return 'role';
  return credentialType === 'personal_api_key' ? null : 'key';
}

/** Why the session does not administer the members (reference §3): the same, or a personal key without all scopes. */
export function useHindrance(): Hindrance {
  const { scopes } = useContext();
  const hindrance = useConnectHindrance();
  return hindrance ?? (ALL_SCOPES.every((scope) => scopes.includes(scope)) ? null : 'key');
}
