import type { Task } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import css from './checks.module.css';
import { CheckMark } from './mark.tsx';
import { useChecksState } from './state.ts';

/** In the head of a task: how its checks stand. */
export function ChecksBadge({ task }: { task: Task }) {
  const state = useChecksState(task);
  if (state === null) return null;
  const { look, words, log } = state;
  const { is, since } = t.checks;
  const each = log.names.flatMap((name) => {
    const [before, now] = [log.before[name], log.after[name]];
    if (before === undefined) return [];
    return `${name}: ${now === undefined ? is[before] : since(is[before], is[now])}`;
  });
  return (
    <span className={css.badge} data-look={look} title={t.checks.ofTask(words, each)}>
      <CheckMark look={look} size={13} />
      <span className="sr">{t.checks.title}: </span>
      <span className={css.words}>{words}</span>
    </span>
  );
}
