// The live state of the open task, for the components that show it.
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Decision } from '../../api/decisions.ts';
import type { Making, Printed, TaskLive } from '../../api/task-live.ts';

export const LiveContext = createContext<TaskLive | null>(null);

/** A component renders again when what it selects has changed, and not with each frame. */
function useSelected<T>(select: (making: Making) => T, nothing: T): T {
  const live = useContext(LiveContext);
  return useSyncExternalStore(live?.making.subscribe ?? never, () =>
    live === null ? nothing : select(live.making.value),
  );
}
const never = () => () => undefined;

/** The message that is written at the moment, in parts. */
export const useWritten = (): Making['message'] => useSelected(({ message }) => message, null);

/** What a call or a check has printed so far; undefined for nothing. */
export const usePrinted = (printer: string): Printed | undefined =>
  useSelected(({ printed }) => printed.get(printer), undefined);

/** Who decided about which call. */
export const Decisions = createContext<ReadonlyMap<string, Decision>>(new Map());
