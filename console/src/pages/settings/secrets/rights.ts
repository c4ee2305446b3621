import { useConnectHindrance } from '../../../shell/administration.ts';
import { useCan, useContext } from '../../../shell/can.ts';
import type { Scope } from './draft.ts';

/** Whose secrets the session may change, and why not all of them (reference §24). The service decides anyway. */
export function useRights(): { scopes: Scope[]; hindrance: 'viewer' | 'role' | 'key' | 'scope' | null } {
  const { credentialType, workspace, scopes: has } = useContext();
  const projects = useCan()('projects:read');
  const hindrance = useConnectHindrance();
  if (workspace.role === 'viewer') return { scopes: [], hindrance: 'viewer' };
  if (credentialType !== 'personal_api_key') return { scopes: [], hindrance: 'key' };
  if (!has.includes('automations:write')) return { scopes: [], hindrance: 'scope' };
  if (hindrance !== null) return { scopes: ['user'], hindrance };
  return { scopes: projects ? ['workspace', 'project', 'user'] : ['workspace', 'user'], hindrance };
}
