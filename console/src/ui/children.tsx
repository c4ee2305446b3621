import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { childrenOf, childrenQuery } from '../api/child-queries.ts';
import type { Task } from '../api/client.ts';
import { t } from '../texts/index.ts';
import css from './children.module.css';
import { StatusDot } from './ui.tsx';

/** The tasks that a task has made, and those that they have made, with what they ask. */
export function Children({ taskId }: { taskId: string }) {
  const { data = [] } = useQuery(childrenQuery(taskId));
  return (
    <ul className={css.list} aria-label={t.children.title}>
      {data.map((task) => (
        <Child key={task.id} task={task} />
      ))}
    </ul>
  );
}

function Child({ task }: { task: Task }) {
  const { id, title, status, pendingInteraction } = task;
  return (
    <li>
      <div className={css.task}>
        <span title={t.common.status[status]}>
          <StatusDot status={status} />
        </span>
        <Link href={`/tasks/${id}`} className="ellipsis">
          <span className="sr">{t.common.status[status]}: </span>
          {title}
        </Link>
        {pendingInteraction !== null && (
          <Link href={`/tasks/${id}`} className={css.asks}>
            {pendingInteraction.question}
          </Link>
        )}
      </div>
      {childrenOf(task) > 0 && <Children taskId={id} />}
    </li>
  );
}
