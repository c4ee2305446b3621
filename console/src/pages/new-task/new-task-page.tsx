import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { api, type StoredFile } from '../../api/client.ts';
import { foundQuery } from '../../api/list-queries.ts';
import { taskFilesQuery, taskQuery } from '../../api/queries.ts';
import { useCan, useContext } from '../../shell/can.ts';
import { useLater } from '../../shell/later.ts';
import { Body, PageHead } from '../../shell/shell.tsx';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { useAttachments } from '../../ui/attachments.tsx';
import { Refused } from '../../ui/nothing.tsx';
import { Button, Dialog, Empty, Failure, Skeleton, StatusDot, toastError, ui } from '../../ui/ui.tsx';
import { type Draft, draftOf, EMPTY, filesOf, useDraft } from './draft.ts';
import { NewTaskForm } from './form.tsx';
import css from './new-task.module.css';

const firstMessageQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['first-message', taskId],
    queryFn: async ({ signal }) => (await api.tasks.messages(taskId, { limit: 1 }, { signal }).page()).items[0] ?? null,
    staleTime: Infinity,
  });

export default function NewTaskPage() {
  const can = useCan();
  const { workspace } = useContext();
  const [params] = useSearchParams();
  const [, navigate] = useLocation();
  const [picking, setPicking] = useState(false);
  const from = can('tasks:read') ? (params.get('from') ?? '') : '';
  const project = params.get('project') ?? '';
  const agent = params.get('agent') ?? '';
  if (!can('tasks:write')) {
    return (
      <>
        <PageHead title={t.newTask.title} />
        {workspace.role === 'viewer' ? (
          <Empty icon="Shield" title={t.common.refused.title}>
            {t.newTask.readOnly}
          </Empty>
        ) : (
          <Refused scope="tasks:write" />
        )}
      </>
    );
  }
  return (
    <>
      <PageHead title={t.newTask.title}>
        {from !== '' && (
          <Button small look="ghost" onClick={() => navigate('/new')}>
            {t.newTask.blank}
          </Button>
        )}
        {can('tasks:read') && (
          <Button small icon="Copy" onClick={() => setPicking(true)}>
            {t.newTask.earlier}
          </Button>
        )}
      </PageHead>
      {from === '' ? (
        <WithDraft key={`${project} ${agent}`} from="" begin={{ ...EMPTY, projectId: project, agent }} files={[]} />
      ) : (
        <FromTask key={from} from={from} />
      )}
      <EarlierTasks open={picking} onClose={() => setPicking(false)} />
    </>
  );
}

function FromTask({ from }: { from: string }) {
  const task = useQuery(taskQuery(from));
  const first = useQuery(firstMessageQuery(from));
  // The new one gets copies, where the key may make them.
  const copies = useCan()('files:read', 'files:write');
  const files = useQuery({ ...taskFilesQuery(from), enabled: copies });
  const error = task.error ?? first.error ?? files.error;
  if (task.data === undefined || first.data === undefined || (copies && files.data === undefined)) {
    return (
      <Body>
        <div className={css.form}>
          {error === null ? (
            <Skeleton w="100%" h={260} />
          ) : (
            <Empty icon="Search" title={t.newTask.fromFailed}>
              <Failure
                error={error}
                retry={() => [task, first, files].forEach((query) => query.isError && void query.refetch())}
              />
            </Empty>
          )}
        </div>
      </Body>
    );
  }
  const message = first.data ?? undefined;
  return (
    <WithDraft
      from={from}
      title={task.data.title}
      begin={draftOf(task.data, message)}
      files={filesOf(task.data, files.data ?? [])}
    />
  );
}

function WithDraft({ from, title, begin, files }: { from: string; title?: string; begin: Draft; files: StoredFile[] }) {
  // As it was when the form was opened: an event of the earlier task changes nothing here.
  const [first] = useState(begin);
  const state = useDraft(from, first);
  const attachments = useAttachments(state.draft.uploads);
  useEffect(() => state.change({ uploads: attachments.kept }), [attachments.kept.map((one) => one.uploadId).join()]);
  useEffect(() => {
    // A file belongs to its task. A draft has its copies already.
    if (state.draft !== first) return;
    const stop = new AbortController();
    const copies = files.map(async ({ id, name, mediaType }) => {
      const response = await api.files.content(id, { signal: stop.signal });
      return new File([await response.blob()], name, { type: mediaType });
    });
    Promise.all(copies).then(
      (all) => !stop.signal.aborted && all.length > 0 && attachments.add(all),
      (error: unknown) => !stop.signal.aborted && toastError(error),
    );
    return () => stop.abort();
  }, []);
  return <NewTaskForm {...state} attachments={attachments} {...(title !== undefined && { from: title })} />;
}

/** Which task is taken as the pattern. */
function EarlierTasks({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.newTask.earlierTitle}>
      <Earlier onClose={onClose} />
    </Dialog>
  );
}

function Earlier({ onClose }: { onClose: () => void }) {
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
