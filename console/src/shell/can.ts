import { session } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import type { AuthContext } from '../api/client.ts';

type Scope = AuthContext['scopes'][number];

/** Who is signed in. Pages are drawn only then. */
export function useContext(): AuthContext {
  const state = useStore(session);
  if (state.is !== 'in') throw new Error('Nobody is signed in.');
  return state.context;
}

/** Whether the session's key may do it: it has the scope, and no viewer writes. The service decides anyway. */
export function useCan(): (...scopes: Scope[]) => boolean {
  const { scopes: has, workspace } = useContext();
  return (...scopes) =>
    scopes.every((scope) => has.includes(scope) && !(workspace.role === 'viewer' && scope.endsWith(':write')));
}

/** Whether what is this user's is the session's to change: one's own is, and to owners and admins of the workspace all of it. */
export function useOwns(): (owner: { id: string }) => boolean {
  const { user, workspace } = useContext();
  return ({ id }) => id === user.id || workspace.role === 'owner' || workspace.role === 'admin';
}
