// Whether an automation that is due may fire (reference §12). Pure: the statement LOAD has brought the facts.
import type { TriggerType } from './automation-run.entity.js';
import type { FiringAutomation, RunReason } from './automation-runs.sql.js';
import type { PausedReason } from './automation.entity.js';

/** Why a run fails, and why its automation is paused with it; null when it stays active. */
export interface Refusal {
  reason: RunReason;
  pause: PausedReason | null;
}

/** What has changed since the automation was written, so that it may not fire; null when it may. */
export function hindrance(automation: FiringAutomation, trigger: TriggerType): Refusal | null {
  const { role, beyondPlan, connected, triggerEvent } = automation;
  if (role === null) return paused('owner_removed', 'The owner is not a member of the workspace any more.');
  if (role === 'viewer') {
    const message = 'The owner is a viewer of the workspace by now, who only reads.';
    return { reason: { code: 'role_not_allowed', message }, pause: null };
  }
  if (beyondPlan) {
    return paused(
      'subscription',
      'The plan of the workspace allows fewer active automations; the oldest ones stay active.',
    );
  }
  // A run that waited while its automation got a schedule needs no connection any more.
  if (trigger === 'event' && triggerEvent !== null && !connected) {
    return paused('integration_disconnected', 'The connection that brings the event is not there any more.');
  }
  return null;
}

function paused(code: PausedReason['code'], message: string): Refusal {
  return { reason: { code, message }, pause: { code, message } };
}

/** What becomes of a run while the task of the one before it is queued or running; null when it starts. */
export function overlapping(
  { overlap, busy, waits }: Pick<FiringAutomation, 'overlap' | 'busy' | 'waits'>,
  trigger: TriggerType,
): { status: 'skipped' | 'waiting'; reason: RunReason } | null {
  if (trigger === 'manual' || overlap === 'allow') return null;
  if (overlap === 'queue' && waits) {
    return {
      status: 'skipped',
      reason: { code: 'other_waits', message: 'Another run waits already; at most one does.' },
    };
  }
  if (!busy) return null;
  const reason = { code: 'previous_running', message: 'The task of the run before it was queued or running.' };
  return { status: overlap === 'skip' ? 'skipped' : 'waiting', reason };
}
