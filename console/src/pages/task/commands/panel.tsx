// The commands of the agent that go on beyond their calls: a terminal each, those that run first.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Task, type TaskCommand } from '../../../api/client.ts';
import { useStopCommand } from '../../../api/task-actions.ts';
import { useCan } from '../../../shell/can.ts';
import { t } from '../../../texts/index.ts';
import { inOneLine } from '../../../ui/code.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { Terminal } from '../../../ui/terminal.tsx';
import { Button, Failure, StatusDot, toastError } from '../../../ui/ui.tsx';
import css from '../checks/checks.module.css';
import { LiveOutput } from '../live-output.tsx';

const AT_ONCE = 20;

export default function CommandsPanel({ task }: { task: Task }) {
  const [open, setOpen] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ['commands', task.id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.tasks.commands(task.id, { limit: AT_ONCE }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
  });
  // Without a command the workspace shows no tool activity.
  const commands = (query.data?.pages ?? []).flatMap(({ items }) => items).filter(({ command }) => command !== null);
  const running = commands.filter(({ status }) => status === 'running');
  if (commands.length === 0 && query.error === null) return null;
  const ended = commands.filter(({ status }) => status !== 'running');
  const texts = t.commands;
  return (
    <section className={css.panel} aria-label={texts.title}>
      <button type="button" className={css.head} aria-expanded={open} onClick={() => setOpen(!open)}>
        <StatusDot status={running.length > 0 ? 'running' : 'completed'} size={14} />
        <strong>{texts.title}</strong>
        <span className="ellipsis">{texts.count(running.length, ended.length, query.hasNextPage)}</span>
        <span className="grow" />
        <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={13} />
      </button>
      {open && (
        <div className={css.scroll} data-scrollable tabIndex={0} role="group" aria-label={texts.title}>
          {query.error !== null && <Failure error={query.error} retry={() => void query.refetch()} />}
          <ul className={css.list}>
            {[...running, ...ended].map((command) => (
              <li key={command.id}>
                <Command taskId={task.id} command={command} />
              </li>
            ))}
          </ul>
          {query.hasNextPage && (
            <Button small disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
              {texts.earlier}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

function Command({
  taskId,
  command: { id, status, exitCode, command, output },
}: {
  taskId: string;
  command: TaskCommand;
}) {
  const runs = status === 'running';
  const [open, setOpen] = useState(runs);
  const stop = useStopCommand(taskId);
  const writes = useCan()('tasks:write');
  const texts = t.commands;
  const look = runs ? 'running' : status !== 'exited' ? 'cancelled' : exitCode === 0 ? 'completed' : 'failed';
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={css.line}>
        <StatusDot status={look} size={14} />
        <strong>{id}</strong>
        <span className={css.how} data-status={look}>
          {texts.how(status, exitCode)}
        </span>
        {command !== null && <code className="ellipsis">{inOneLine(command)}</code>}
        <Icon className={css.chevron} name="ChevronRight" size={13} />
      </summary>
      {open && (
        <div className={css.body}>
          {runs && <LiveOutput printer={id} label={id} />}
          {!runs && output !== null && <Terminal stdout={output} live label={texts.outputOf(id)} />}
          {runs && writes && (
            // It ends a moment after the answer.
            <Button
              small
              disabled={stop.isPending || stop.isSuccess}
              onClick={() => stop.mutate(id, { onError: toastError })}
            >
              {texts.stop(id)}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}
