import type { TaskStatus } from '../api/client.ts';
import { common } from './common.ts';

/** Tasks that the agent of a task has made. */
export const children = {
  title: 'Tasks of this task',
  count: (n: number) => (n === 1 ? '1 task' : `${n} tasks`),
  statusOf: (status: string) => (status === 'gone' ? 'Deleted' : (common.status[status as TaskStatus] ?? status)),
  waits: 'Goes on when its tasks have ended',
  usage: 'Its tasks',
  verbs: { did: 'Handed out', does: 'Handing out', wants: 'Wants to hand out', wanted: 'Wanted to hand out' },
  parent: 'Part of',
  parentTask: 'another task',
};
