// How the checks of a task stand, in words.
import { useQuery } from '@tanstack/react-query';
import { type CheckLog, checkLogQuery, checksOf } from '../../../api/check-queries.ts';
import { isFinal, type Message, type Task } from '../../../api/client.ts';
import { conversationQuery } from '../../../api/queries.ts';
import { t } from '../../../texts/index.ts';
import { fieldsOf } from '../steps.ts';
import type { Look } from './mark.tsx';

export interface ChecksState {
  look: Look;
  words: string;
  log: CheckLog;
}

const NOTHING: CheckLog = { names: [], running: [], before: {}, after: {} };

/** Null for a task without checks. */
export function useChecksState(task: Task): ChecksState | null {
  const checks = checksOf(task);
  const has = checks.status !== 'none';
  const { data = NOTHING } = useQuery({ ...checkLogQuery(task.id), enabled: has });
  // The conversation is kept up by the events of the task.
  const { data: most = null } = useQuery({
    ...conversationQuery(task.id),
    enabled: false,
    select: ({ messages }) => mostRepairsIn(messages),
  });
  if (!has) return null;
  const log = task.status === 'running' ? data : { ...data, running: [] };
  const { look, words } = standing(checks, log, { works: !isFinal(task.status), most });
  const before = Object.values(log.before);
  if (before.length === 0) return { look, words, log };
  const passed = before.filter((status) => status === 'passed').length;
  return { look, words: t.checks.since(t.checks.before(passed, before.length - passed), words), log };
}

function standing(
  { status, passed, failed, repairs }: Task['checks'],
  { running }: CheckLog,
  { works, most }: { works: boolean; most: number | null },
): Pick<ChecksState, 'look' | 'words'> {
  const texts = t.checks;
  const names = (phase: 'before' | 'after') => running.filter((one) => one.phase === phase).map(({ name }) => name);
  switch (status) {
    case 'pending': {
      const now = names('before');
      return now.length === 0
        ? { look: 'pending', words: texts.pending }
        : { look: 'running', words: texts.onOriginal(now) };
    }
    case 'running': {
      if (!works) return { look: 'stopped', words: texts.stopped };
      const now = names('after');
      // Some failed, and none runs: it is the agent's turn.
      if (now.length === 0 && failed > 0) return { look: 'mending', words: texts.mending(failed, repairs + 1, most) };
      return { look: 'running', words: texts.running(now, passed, failed) };
    }
    case 'passed':
      return { look: 'passed', words: texts.passed(passed, failed) };
    case 'failed':
      return { look: 'failed', words: texts.failed(failed, passed) };
    default:
      return { look: 'error', words: texts.error };
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
