import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { foundQuery } from '../../api/list-queries.ts';
import { useLater } from '../../shell/later.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { Dialog, Failure, StatusDot, ui } from '../../ui/ui.tsx';
import css from './new-task.module.css';

/** Which task is taken as the pattern. */
export function EarlierTasks({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.newTask.earlierTitle}>
      <Choice onClose={onClose} />
    </Dialog>
  );
}

function Choice({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const found = useQuery(foundQuery(useLater(text.trim())));
  return (
    <>
      <p>{t.newTask.earlierText}</p>
      <input
        className={ui.input}
        type="search"
        autoFocus
        value={text}
        maxLength={200}
        placeholder={t.newTask.earlierSearch}
        aria-label={t.newTask.earlierSearch}
        onChange={(event) => setText(event.target.value)}
      />
      {found.isError && <Failure error={found.error} retry={() => void found.refetch()} />}
      {found.data?.length === 0 && <p>{t.newTask.earlierNone}</p>}
      <ul className={css.earlier}>
        {found.data?.map(({ id, title, status, createdAt }) => (
          <li key={id}>
            <button type="button" onClick={() => (onClose(), navigate(`/new?from=${id}`))}>
              <StatusDot status={status} size={14} />
              <span className="ellipsis grow">{title}</span>
              <Ago at={createdAt} />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
