// How the checks of a task stand, in words.
import { useQuery } from '@tanstack/react-query';
import { checkNowQuery, checksOf } from '../../../api/check-queries.ts';
import { isFinal, type Message, type Task } from '../../../api/client.ts';
import { conversationQuery } from '../../../api/queries.ts';
import { t } from '../../../texts/index.ts';
import { fieldsOf } from '../steps.ts';
import type { Look } from './mark.tsx';

export interface ChecksState {
  look: Look;
  words: string;
  /** The name of the one that runs. */
  now: string | null;
}

/** Null for a task without checks. */
export function useChecksState(task: Task): ChecksState | null {
  const { status, passed, failed, repairs } = checksOf(task);
  const works = status === 'running' && !isFinal(task.status);
  const { data: begun } = useQuery({ ...checkNowQuery(task.id), enabled: works });
  // The conversation is kept up by the events of the task.
  const { data: most = null } = useQuery({
    ...conversationQuery(task.id),
    enabled: false,
    select: ({ messages }) => mostRepairsIn(messages),
  });
  const texts = t.checks;
  switch (status) {
    case 'none':
      return null;
    case 'pending':
      return { look: 'pending', words: texts.pending, now: null };
    case 'running': {
      if (!works) return { look: 'stopped', words: texts.stopped, now: null };
      // Some failed, and none runs: it is the agent's turn.
      if (begun === null && failed > 0)
        return { look: 'mending', words: texts.mending(failed, repairs + 1, most), now: null };
      const now = begun?.data.name ?? null;
      return { look: 'running', words: texts.running(now, passed, failed), now };
    }
    case 'passed':
      return { look: 'passed', words: texts.passed(passed, failed), now: null };
    case 'failed':
      return { look: 'failed', words: texts.failed(failed, passed), now: null };
    default:
      return { look: 'error', words: texts.error, now: null };
  }
}

/** How often the agent may mend in the turn in which it did last; null where nothing says so. */
function mostRepairsIn(messages: readonly Message[]): number | null {
  for (const { parts } of messages.toReversed()) {
    const told = parts.find((part) => part.type === 'data' && part.name === 'checks');
    if (told === undefined || !('data' in told)) continue;
    const { round, repairsLeft } = fieldsOf(told.data);
    return typeof round === 'number' && typeof repairsLeft === 'number' ? round + repairsLeft : null;
  }
  return null;
}
