import { Store, useStore } from '../api/store.ts';
import { ago, fullTime } from './format.ts';

// One clock for all of them. What is ahead by no more than it lags is now.
const CLOCK_MS = 20_000;
const clock = new Store(Date.now());
setInterval(() => clock.set(Date.now()), CLOCK_MS);

export function Ago({ at }: { at: string }) {
  const time = useStore(clock);
  const then = new Date(at).getTime();
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at, then > time && then - time < CLOCK_MS * 2 ? then : time)}
    </time>
  );
}
