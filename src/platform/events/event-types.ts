// The types of events that the service writes into the log of a workspace: those that reference §17 marks W.

/** Of what has become of a task: one for each status. */
export const MOVES = [
  'task.queued',
  'task.running',
  'task.awaiting_input',
  'task.completed',
  'task.cancelled',
  'task.failed',
] as const;
/** Those of a task's status: its beginning, and what has become of it. */
export const STATUS_EVENTS = ['task.created', ...MOVES] as const;
export const AUTOMATION_EVENTS = [
  'automation.run_started',
  'automation.run_skipped',
  'automation.run_failed',
  'automation.paused',
] as const;
export const CHECK_EVENTS = ['check.started', 'check.completed'] as const;
export const EVENT_TYPES = [
  ...STATUS_EVENTS,
  'task.updated',
  'task.deleted',
  ...CHECK_EVENTS,
  ...AUTOMATION_EVENTS,
] as const;

/** What types of the service begin with: also those of a task's own events, of streams, and of the test of a webhook. */
export const EVENT_KINDS = [
  'task',
  'automation',
  'message',
  'tool',
  'file',
  'interaction',
  'check',
  'command',
  'stream',
  'webhook',
];
