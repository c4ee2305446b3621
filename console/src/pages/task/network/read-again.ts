import { useEffect } from 'react';
import type { Task } from '../../../api/client.ts';

/** Within this time the service has as a rule written down what a command used: it does so each second, and after the end of a run. */
const WRITTEN_MS = 2000;
/** A command may go on for long, and a busy service may write later. */
const EVERY_MS = 5000;

/** Reads again what is counted while a task works: a while after each step of the agent and after its end, and now and then in between. */
export function useReadAgain({ status, usage }: Task, refetch: () => unknown): void {
  const now = `${status} ${usage.steps}`;
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), WRITTEN_MS);
    return () => clearTimeout(timer);
  }, [now, refetch]);
  const works = status === 'running';
  useEffect(() => {
    if (!works) return;
    const timer = setInterval(() => void refetch(), EVERY_MS);
    return () => clearInterval(timer);
  }, [works, refetch]);
}
