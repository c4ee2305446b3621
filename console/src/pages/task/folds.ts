// What was unfolded stays so, whatever is drawn anew around it.
import { useSyncExternalStore } from 'react';
import { Store } from '../../api/store.ts';

interface Folds {
  all: boolean | null;
  opened: ReadonlyMap<string, boolean>;
}
const folds = new Store<Folds>({ all: null, opened: new Map() });

/** Unfolds all steps; when they are, each is again as it would be by itself. */
export function foldAll(): void {
  folds.set({ all: folds.value.all === true ? null : true, opened: new Map() });
}

export function useFold(key: string, fallback: boolean): [open: boolean, toggle: () => void] {
  const open = useSyncExternalStore(folds.subscribe, () => folds.value.opened.get(key) ?? folds.value.all ?? fallback);
  return [open, () => folds.set({ ...folds.value, opened: new Map(folds.value.opened).set(key, !open) })];
}
