// Which events a webhook can be told of: those that reference §17 marks W.
export const EVENT_TYPES = [
  'task.created',
  'task.queued',
  'task.running',
  'task.awaiting_input',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'task.updated',
  'task.deleted',
  'automation.run_started',
  'automation.run_skipped',
  'automation.run_failed',
  'automation.paused',
] as const;

/** Sent on request alone, whatever the types of the webhook are. */
export const TEST_EVENT = 'webhook.test';

/** All that `types` of a webhook may hold: a type, all of a kind, all. */
export const EVENT_PATTERNS: readonly string[] = [...EVENT_TYPES, 'task.*', 'automation.*', '*'];
