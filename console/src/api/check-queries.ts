// What the service found out about a task by itself.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, type Task, type TaskCheck, type TaskEvent } from './client.ts';

/** Each has the end of what it wrote. */
const AT_ONCE = 32;

/** Newest first; a check that still runs is not among them. */
export const checksQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['checks', taskId, 'list'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.tasks.checks(taskId, { limit: AT_ONCE }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
  });

type Of<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>;
export type RunningCheck = Pick<Of<'check.started'>['data'], 'name' | 'phase' | 'round'>;
type Standing = Record<string, TaskCheck['status']>;

/** What the log of a task says of its checks, by their names: no output, so it is small. */
export interface CheckLog {
  /** In the order of the task, for they begin so; two at once may end in another one. */
  names: string[];
  /** Those that run, in the order in which they have begun. */
  running: RunningCheck[];
  /** How each stood on the original. */
  before: Standing;
  /** How each stands, of those that have ended in the last round. */
  after: Standing;
}

/** At these nothing of a task runs any more. */
const STOPS = ['task.queued', 'task.awaiting_input', 'task.completed', 'task.failed', 'task.cancelled'] as const;

export const checkLogQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['checks', taskId, 'log'],
    queryFn: async ({ signal }): Promise<CheckLog> => {
      const log: CheckLog = { names: [], running: [], before: {}, after: {} };
      const types = ['check.started', 'check.completed', ...STOPS];
      for await (const event of api.tasks.history(taskId, { types, signal })) note(log, event);
      return log;
    },
    staleTime: 0,
  });

function note(log: CheckLog, event: TaskEvent): void {
  if (event.type === 'check.completed') {
    const { name, phase, status } = event.data;
    log.running = log.running.filter((one) => one.name !== name || one.phase !== phase);
    log[phase][name] = status;
  } else if (event.type === 'check.started') {
    const { name, phase } = event.data;
    const under = log.running.some((one) => one.name === name && one.phase === phase);
    const again = phase === 'after' && name in log.after;
    // What ran beside one that was cut off was cut off, too.
    if (under || again) log.running = log.running.filter((one) => one.phase !== phase);
    // All of a round run anew; of those on the original only what was not known.
    if (phase === 'after' && (under || again)) log.after = {};
    log.running.push(event.data);
    if (!log.names.includes(name)) log.names.push(name);
  } else log.running = [];
}

const NONE: Task['checks'] = { status: 'none', passed: 0, failed: 0, repairs: 0 };
/** A service of before has no such field. */
export const checksOf = (task: Task): Task['checks'] => (task as Partial<Task>).checks ?? NONE;
