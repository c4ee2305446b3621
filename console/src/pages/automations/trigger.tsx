import type { Automation } from '../../api/client.ts';
import { t } from '../../texts/index.ts';
import { fullTime } from '../../ui/format.ts';
import { Badge, type Tone } from '../../ui/records.tsx';
import { parseCron } from './cron.ts';
import { inWords } from './cron-words.ts';

const w = t.automations;

/** What starts an automation, in words. */
export function triggerOf({ cron, timezone, runAt, triggerEvent, filter }: Automation): string {
  if (cron !== null) {
    const parsed = parseCron(cron);
    return w.inZone(parsed === null ? cron : inWords(parsed), timezone ?? 'UTC');
  }
  if (runAt !== null) return w.once(fullTime(runAt));
  return filter === null ? w.onEvent(triggerEvent ?? '') : w.onEventFiltered(triggerEvent ?? '');
}

export const KIND_ICONS = { recurring: 'Calendar', one_time: 'Clock', webhook: 'Zap' } as const;

const TONES: Record<Automation['status'], Tone> = { active: 'good', paused: 'warn', completed: 'quiet' };

export const StatusBadge = ({ status, pausedReason }: Automation) => {
  // Paused by hand is what somebody wanted.
  const tone = status === 'paused' && pausedReason?.code === 'manual' ? 'quiet' : TONES[status];
  const icon = status === 'paused' ? 'Square' : status === 'active' ? 'Check' : 'Clock';
  return (
    <Badge tone={tone} icon={tone === 'warn' ? 'Alert' : icon}>
      {w.status[status]}
    </Badge>
  );
};
