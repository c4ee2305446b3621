import { useEffect, useRef } from 'react';
import type { Task } from '../../../api/client.ts';

/** Within this time the service has written down what a command used: it does so each second, and after the end of a run. */
const WRITTEN_MS = 2000;

/** Reads again what is counted while a task works: after each step of the agent, after its end, and soon after the first look, which may have come before the last of it was written. */
export function useReadAgain({ status, usage }: Task, refetch: () => unknown): void {
  const now = `${status} ${usage.steps}`;
  const read = useRef('');
  useEffect(() => {
    if (read.current === now) return;
    const timer = setTimeout(() => {
      read.current = now;
      void refetch();
    }, WRITTEN_MS);
    return () => clearTimeout(timer);
  }, [now, refetch]);
}
