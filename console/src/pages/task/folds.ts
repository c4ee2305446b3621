// What was unfolded stays so, whatever is drawn anew around it.
import { useSyncExternalStore } from 'react';

const opened = new Map<string, boolean>();
let all: boolean | null = null;
const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());
const subscribe = (listener: () => void) => (listeners.add(listener), () => listeners.delete(listener));

/** Unfolds all steps; when they are, each is again as it would be by itself. */
export function foldAll(): void {
  all = all === true ? null : true;
  opened.clear();
  notify();
}

export function useFold(key: string, fallback: boolean): [open: boolean, toggle: () => void] {
  const open = useSyncExternalStore(subscribe, () => opened.get(key) ?? all ?? fallback);
  return [
    open,
    () => {
      opened.set(key, !open);
      notify();
    },
  ];
}
