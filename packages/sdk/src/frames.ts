// What the frames of a task's stream are.
import type { Frame } from './follow.js';
import type { TaskStatus } from './types.js';

const DELTAS = ['message.delta', 'tool.progress', 'command.output', 'message.discarded'];
export const isDelta = ({ type }: Frame): boolean => DELTAS.includes(type);

/** The status that a frame tells of; null for none. */
export function statusIn(frame: Frame): TaskStatus | null {
  if (frame.type === 'heartbeat') return (frame['status'] as TaskStatus | null | undefined) ?? null;
  const { status } = (frame['data'] ?? {}) as { status?: TaskStatus };
  return /^task\.\w+$/.test(frame.type) && status !== undefined ? status : null;
}
