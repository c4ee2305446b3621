import type { Automation } from '../../api/client.ts';
import { useCan, useContext } from '../../shell/can.ts';

/** Whether the session may change an automation: its owner's, or an owner's or admin's of the workspace (reference §3). */
export function useMayChange(): (automation: Automation) => boolean {
  const can = useCan();
  const { user, workspace } = useContext();
  return ({ owner }) =>
    can('automations:write') && (owner.id === user.id || workspace.role === 'owner' || workspace.role === 'admin');
}
