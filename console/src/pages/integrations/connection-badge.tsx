import type { Integration } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { Badge, type Tone } from '../../ui/records.tsx';

type State = Integration['connections']['user'];
const TONES: Record<State, Tone> = { connected: 'good', not_connected: 'quiet', error: 'bad' };

export const ConnectionBadge = ({ state }: { state: State }) => (
  <Badge tone={TONES[state]} {...(state === 'not_connected' && { icon: 'Link' as const })}>
    {t.integrations.state[state]}
  </Badge>
);

/** Of both connections together: a fault of one of them is to be seen. */
export function stateOf({ connections: { workspace, user }, connected }: Integration): State {
  if (workspace === 'error' || user === 'error') return 'error';
  return connected ? 'connected' : 'not_connected';
}
