// The title of the task, how it stands, and what can be done with it.
import { Suspense, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useParent } from '../../api/child-queries.ts';
import { isFinal, stands, type Task } from '../../api/client.ts';
import { useCancel, useChange, usePause, useRemove } from '../../api/task-actions.ts';
import { useCan } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { page as shell } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Confirm } from '../../ui/form.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PullRequest } from '../../ui/pull-request.tsx';
import { Button, copy, Skeleton, StatusLabel, toast, toastError } from '../../ui/ui.tsx';
import { ChecksBadge } from './checks/badge.tsx';
import { Menu, type MenuItem } from './menu.tsx';
import css from './task.module.css';

const EditTask = program(() => import('./edit-task.tsx'));
const PauseUntil = program(() => import('./pause-until.tsx'));

interface HeadProps {
  task: Task | undefined;
  panel: boolean;
  togglePanel: () => void;
}

export function Head({ task, panel, togglePanel }: HeadProps) {
  const parent = useParent(task);
  return (
    <header className={shell.head}>
      <Link href="/tasks" className={css.back ?? ''}>
        {t.shell.pages.tasks}
      </Link>
      <Icon className={css.crumb} name="ChevronRight" size={13} />
      {parent && (
        <>
          <Link href={`/tasks/${parent.id}`} className={`${css.parent} ellipsis`} title={t.children.parent}>
            {parent.title ?? t.children.parentTask}
          </Link>
          <Icon className={css.into} name="ChevronRight" size={13} />
        </>
      )}
      {task ? (
        <h1 className="ellipsis" title={task.title}>
          {task.title}
        </h1>
      ) : (
        <Skeleton w={220} h={14} />
      )}
      {task && <StatusLabel pill status={task.status} />}
      {task && <ChecksBadge task={task} />}
      {task?.pullRequest && <PullRequest {...task.pullRequest} />}
      {task?.archived && <span className={css.badge}>{t.task.details.archived}</span>}
      <span className="grow" />
      {task && <Actions task={task} />}
      <Button
        small
        look="ghost"
        icon="Panel"
        aria-label={t.task.details.title}
        aria-pressed={panel}
        title={`${t.task.details.title} (\\)`}
        onClick={togglePanel}
      />
    </header>
  );
}

function Actions({ task }: { task: Task }) {
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [pausing, setPausing] = useState(false);
  const [, navigate] = useLocation();
  const writes = useCan()('tasks:write');
  const cancel = useCancel(task.id);
  const pause = usePause(task.id);
  const verb = stands(task) ? 'resume' : 'pause';
  const change = useChange(task.id);
  const remove = useRemove(task.id, () => {
    navigate('/tasks');
    toast(t.task.actions.deleted);
  });
  const { actions } = t.task;

  const archive = () =>
    change.mutate(
      { archived: !task.archived },
      { onSuccess: () => toast(task.archived ? actions.unarchived : actions.archived), onError: toastError },
    );
  const shared: MenuItem[] = [
    { label: actions.copyLink, icon: 'Link', onSelect: () => void copy(location.href) },
    { label: actions.copyId, icon: 'Copy', onSelect: () => void copy(task.id) },
  ];
  const changing: MenuItem[] = [
    { label: actions.edit, icon: 'Pencil', onSelect: () => setEditing(true) },
    { label: task.archived ? actions.unarchive : actions.archive, icon: 'Inbox', onSelect: archive },
    ...(isFinal(task.status)
      ? []
      : [{ label: actions.pauseUntil, icon: 'Clock', onSelect: () => setPausing(true) } as const]),
    { label: actions.another, icon: 'Plus', onSelect: () => navigate(`/new?from=${task.id}`) },
  ];
  const ending: MenuItem[] = [
    { label: actions.delete, icon: 'Trash', danger: true, onSelect: () => setDeleting(true) },
  ];
  return (
    <>
      {writes && !isFinal(task.status) && (
        <Button
          small
          look="ghost"
          disabled={pause.isPending}
          onClick={() => pause.mutate(verb, { onError: toastError })}
        >
          {actions[verb]}
        </Button>
      )}
      {writes && !isFinal(task.status) && (
        <Button
          small
          look="danger"
          disabled={cancel.isPending}
          onClick={() => cancel.mutate(undefined, { onSuccess: () => toast(actions.cancelled), onError: toastError })}
        >
          <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden>
            <rect width="9" height="9" rx="2" fill="currentColor" />
          </svg>
          {actions.cancel}
        </Button>
      )}
      <Menu label={actions.more} groups={writes ? [changing, shared, ending] : [shared]} />
      <Suspense fallback={null}>
        {editing && <EditTask task={task} onClose={() => setEditing(false)} />}
        {pausing && <PauseUntil task={task} onClose={() => setPausing(false)} />}
      </Suspense>
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title={actions.deleteTitle}
        action={actions.delete}
        does={remove}
      >
        <p>{actions.deleteText}</p>
        {!isFinal(task.status) && <p>{actions.deleteRunning}</p>}
      </Confirm>
    </>
  );
}
