// What is being made of the task that is looked at, for the parts of the page that show it.
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Decision } from '../../api/decisions.ts';
import type { Making, Printed, TaskLive } from '../../api/task-live.ts';

export const LiveContext = createContext<TaskLive | null>(null);

/** A part is drawn anew when what it takes of it has changed, and not with each frame. */
function useTaken<T>(take: (making: Making) => T, nothing: T): T {
  const live = useContext(LiveContext);
  return useSyncExternalStore(live?.making.subscribe ?? never, () =>
    live === null ? nothing : take(live.making.value),
  );
}
const never = () => () => undefined;

/** The message that is written at the moment, in parts. */
export const useWritten = (): Making['message'] => useTaken(({ message }) => message, null);

/** What a command has printed so far; undefined for nothing. */
export const usePrinted = (toolCallId: string): Printed | undefined =>
  useTaken(({ printed }) => printed.get(toolCallId), undefined);

/** Who decided about which call. */
export const Decisions = createContext<ReadonlyMap<string, Decision>>(new Map());
