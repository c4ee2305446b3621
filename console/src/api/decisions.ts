// Who approved or denied what the agent wanted to do, and when. The events of the task have it, and no message does.
import { queryOptions } from '@tanstack/react-query';
import { api, type TaskEvent } from './client.ts';
import { all, queryClient } from './queries.ts';

type Settled = Extract<TaskEvent, { type: 'interaction.settled' }>['data'];
export interface Decision {
  outcome: Settled['outcome'];
  /** Null for nobody: the time was over, or the task. */
  by: string | null;
  at: string;
}

/** The events of the task's interactions, oldest first. Kept up by {@link heard}. */
export const decisionsQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['decisions', taskId],
    queryFn: ({ signal }) => all(api.tasks.history(taskId, { types: ['interaction.*'], signal })),
    staleTime: Infinity,
  });

/** An event of the task that is followed. */
export function heard(taskId: string, event: TaskEvent): void {
  if (!event.type.startsWith('interaction.')) return;
  const { queryKey } = decisionsQuery(taskId);
  // While it is being read for the first time, it is read again.
  if (queryClient.getQueryData(queryKey) === undefined) void queryClient.invalidateQueries({ queryKey });
  else
    queryClient.setQueryData(
      queryKey,
      (known) => known && (known.some(({ seq }) => seq >= event.seq) ? known : [...known, event]),
    );
}

/** By the call that was asked about. */
export function decisionsOf(events: readonly TaskEvent[]): ReadonlyMap<string, Decision> {
  const calls = new Map<string, string>();
  const decisions = new Map<string, Decision>();
  for (const event of events) {
    if (event.type === 'interaction.created') {
      const { id, toolCall } = event.data.interaction;
      if (toolCall !== null) calls.set(id, toolCall.toolCallId);
    } else if (event.type === 'interaction.settled') {
      const { interactionId, outcome, by } = event.data;
      const call = calls.get(interactionId);
      if (call !== undefined) decisions.set(call, { outcome, by: by?.name ?? null, at: event.createdAt });
    }
  }
  return decisions;
}
