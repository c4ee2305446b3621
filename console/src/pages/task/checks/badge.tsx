import type { Task } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';
import { useChecksState } from './state.ts';

/** In the head of a task: how its checks stand. */
export function ChecksBadge({ task }: { task: Task }) {
  const state = useChecksState(task);
  if (state === null) return null;
  const { look, words } = state;
  return (
    <span className={css.badge} data-look={look} title={t.checks.ofTask(words)}>
      <CheckMark look={look} size={13} />
      <span className="sr">{t.checks.title}: </span>
      <span className={css.words}>{words}</span>
    </span>
  );
}
