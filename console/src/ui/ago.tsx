import { useSyncExternalStore } from 'react';
import { ago, fullTime } from './format.ts';

// One clock for all of them. What is ahead by no more than it lags is now.
const CLOCK_MS = 20_000;
let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  listeners.forEach((listener) => listener());
}, CLOCK_MS);

export function Ago({ at }: { at: string }) {
  const time = useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => now,
  );
  const then = new Date(at).getTime();
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at, then > time && then - time < CLOCK_MS * 2 ? then : time)}
    </time>
  );
}
