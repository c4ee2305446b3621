import { useConnectHindrance } from '../../../shell/administration.ts';
import { useContext } from '../../../shell/can.ts';

/** Why the session does not change environments (reference §25); null: it may. The service decides anyway. */
export function useEnvironmentHindrance(): 'role' | 'key' | 'scope' | null {
  const { scopes } = useContext();
  const hindrance = useConnectHindrance();
  return hindrance ?? (scopes.includes('projects:write') ? null : 'scope');
}
