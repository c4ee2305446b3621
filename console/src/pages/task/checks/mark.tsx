import type { TaskCheck, TaskStatus } from '../../../api/client.ts';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { StatusDot } from '../../../ui/ui.tsx';
import css from './checks.module.css';

export type Look = TaskCheck['status'] | 'pending' | 'running' | 'mending' | 'stopped';

const DOTS: Partial<Record<Look, TaskStatus>> = {
  ...{ pending: 'queued', running: 'running', passed: 'completed', failed: 'failed', stopped: 'cancelled' },
};
const ICONS: Partial<Record<Look, IconName>> = { mending: 'Wrench', timed_out: 'Clock', error: 'Alert' };

/** Each has a shape of its own; the words stand beside it. */
export function CheckMark({ look, size = 14 }: { look: Look; size?: number }) {
  const dot = DOTS[look];
  if (dot !== undefined) return <StatusDot status={dot} size={size} />;
  return (
    <span className={css.mark} data-look={look}>
      <Icon name={ICONS[look] ?? 'Alert'} size={size} />
    </span>
  );
}
