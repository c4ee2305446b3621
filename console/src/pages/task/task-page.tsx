import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isForbidden, isGone, isPatchOmitted, type StoredFile, type Task } from '../../api/client.ts';
import { decisionsOf, decisionsQuery } from '../../api/decisions.ts';
import { conversationQuery, taskFilesQuery, taskQuery } from '../../api/queries.ts';
import { useStore } from '../../api/store.ts';
import { useTaskEvents } from '../../api/task-live.ts';
import { useCan } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { useShortcuts } from '../../shell/shortcuts.tsx';
import { remember, remembered, useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Refused } from '../../ui/nothing.tsx';
import { Empty, Failure, ui } from '../../ui/ui.tsx';
import { Details } from './details.tsx';
import { Dock } from './dock.tsx';
import { Head } from './head.tsx';
import { Decisions, LiveContext } from './live.ts';
import { Loading, Reading } from './reading.tsx';
import { planOf } from './steps.ts';
import css from './task.module.css';

// Each view has a program of its own: who reads a patch needs none of what draws a conversation.
const Conversation = program(() => import('./conversation.tsx'));
const Changes = program(() => import('./changes.tsx'));
const Files = program(() => import('./files.tsx'));
const Folder = program(() => import('./folder/folder.tsx'));

const TABS = ['conversation', 'changes', 'files', 'folder'] as const;
type Tab = (typeof TABS)[number];

export default function TaskPage({ taskId }: { taskId: string }) {
  return useCan()('tasks:read') ? <OneTask taskId={taskId} /> : <Refused scope="tasks:read" />;
}

function OneTask({ taskId }: { taskId: string }) {
  const readsFiles = useCan()('files:read');
  const live = useTaskEvents(taskId);
  const state = useStore(live.state);
  const { data, error, refetch } = useQuery(taskQuery(taskId));
  // What was read stays, also when the task is gone: somebody may be writing.
  const last = useRef(data);
  if (data !== undefined) last.current = data;
  const task = last.current;
  // The events read it, and keep it up.
  const conversation = useQuery({ ...conversationQuery(taskId), enabled: false });
  const files = useFiles(taskId, readsFiles, task);
  const [current, setTab] = useTab(taskId);
  const [panel, togglePanel] = usePanel();
  const messages = conversation.data?.messages;
  const plan = useMemo(() => planOf(messages ?? []), [messages]);
  // Approvals are asked for where the task was made so: what came of them no message says.
  const approvals = useQuery({ ...decisionsQuery(taskId), enabled: task !== undefined && task.approvals !== 'none' });
  const decisions = useMemo(() => decisionsOf(approvals.data ?? []), [approvals.data]);
  const turn = useMemo(() => Math.max(0, ...(messages ?? []).map((message) => message.turn ?? 0)), [messages]);
  const patches = files.data?.filter(isPatch);

  useTitle(task);
  const turnTab = (by: number) =>
    setTab(TABS[(TABS.indexOf(current) + by + TABS.length) % TABS.length] ?? 'conversation');
  useShortcuts({ '[': () => turnTab(-1), ']': () => turnTab(1), '\\': togglePanel });

  const lost =
    state === 'gone' || (isGone(error) && !data) ? (
      <Gone />
    ) : isForbidden(error) || state === 'refused' ? (
      <Refused scope="tasks:read" />
    ) : null;
  if (error && !task && !lost) {
    return (
      <div className={css.note}>
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  }
  let shown: ReactNode;
  if (current !== 'conversation' && !readsFiles) shown = <Refused scope="files:read" />;
  else if (current === 'changes')
    shown = <Changes task={task} files={patches} error={files.error} omitted={isPatchOmitted(task)} />;
  else if (current === 'folder') shown = <Folder taskId={taskId} status={task?.status} />;
  else if (current === 'files') shown = <Files taskId={taskId} list={files.data} error={files.error} />;
  else {
    // Its program is loaded while the messages are read.
    shown = (
      <Decisions value={decisions}>
        <Conversation
          task={task}
          data={conversation.data}
          error={conversation.error}
          retry={() => void conversation.refetch()}
          turn={turn}
        />
      </Decisions>
    );
  }
  return (
    <LiveContext value={live}>
      {lost ?? (
        <>
          <Head task={task} panel={panel} togglePanel={togglePanel} />
          <Tabs current={current} choose={setTab} turn={turnTab} patches={patches?.length} files={files.data?.length} />
        </>
      )}
      <div className={css.split} data-panel={panel && !lost}>
        <div className={css.main}>
          {!lost && (
            <div className={css.tabPanel} role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`}>
              <Suspense fallback={current === 'conversation' ? <Loading /> : <Reading error={null} />}>
                {shown}
              </Suspense>
            </div>
          )}
          {task && (
            <Dock task={task} ask={lost ? null : task.pendingInteraction} open={!lost && current === 'conversation'} />
          )}
        </div>
        {panel && task && !lost && (
          <Details task={task} plan={plan} turn={turn} files={files.data ?? []} close={togglePanel} />
        )}
      </div>
      <div className="sr" role="status" aria-live="polite">
        {task && !lost && t.task.announce(task.status, task.pendingInteraction?.question ?? '')}
      </div>
    </LiveContext>
  );
}

/** The folder has an address of its own: its path is none of the patch's. */
function useTab(taskId: string): [Tab, (tab: Tab) => void] {
  const [tab, setTab] = useParam<Tab>('tab', 'conversation');
  const [location, navigate] = useLocation();
  const inFolder = location.endsWith('/folder');
  const go = (next: Tab) => {
    if (next !== 'folder' && !inFolder) return setTab(next);
    const to = next === 'folder' ? '/folder' : next === 'conversation' ? '' : `?tab=${next}`;
    navigate(`/tasks/${taskId}${to}`, { replace: true });
  };
  return [inFolder ? 'folder' : (TABS.find((one) => one === tab) ?? 'conversation'), go];
}

const isPatch = ({ origin, name, mediaType }: StoredFile): boolean =>
  origin !== 'attachment' && (/\.(patch|diff)$/i.test(name) || /x-diff|x-patch/.test(mediaType));

/** The newest first. */
function useFiles(taskId: string, enabled: boolean, task: Task | undefined) {
  const files = useQuery({ ...taskFilesQuery(taskId), enabled });
  const { refetch } = files;
  const status = task?.status;
  // What came with a message, and what the end of a turn left behind.
  const messages = task?.messageCount;
  useEffect(() => {
    if (enabled && status !== undefined) void refetch();
  }, [enabled, status, messages, refetch]);
  const data = useMemo(() => files.data?.toSorted((a, b) => newestFirst(a, b)), [files.data]);
  return { data, error: files.error };
}

const newestFirst = (a: StoredFile, b: StoredFile) =>
  a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;

function useTitle(task: Task | undefined): void {
  const title = task?.title;
  const status = task?.status;
  useEffect(() => {
    if (title === undefined || status === undefined) return;
    document.title = t.task.pageTitle(title, status);
  }, [title, status]);
}

const WIDE = '(min-width: 1081px)';

/** Beside the conversation it is a habit; where it covers the conversation it is not. */
function usePanel(): [panel: boolean, toggle: () => void] {
  const fits = () => matchMedia(WIDE).matches && remembered('panel', 'open') === 'open';
  const [panel, setPanel] = useState(fits);
  useEffect(() => {
    const wide = matchMedia(WIDE);
    const onChange = () => setPanel(fits());
    wide.addEventListener('change', onChange);
    // It may have changed between the first drawing and now.
    if (!wide.matches) onChange();
    return () => wide.removeEventListener('change', onChange);
  }, []);
  return [
    panel,
    () => {
      if (matchMedia(WIDE).matches) remember('panel', panel ? 'closed' : 'open');
      setPanel(!panel);
    },
  ];
}

interface TabsProps {
  current: Tab;
  choose: (tab: Tab) => void;
  turn: (by: number) => void;
  patches: number | undefined;
  files: number | undefined;
}

function Tabs({ current, choose, turn, patches, files }: TabsProps) {
  const counts = { conversation: 0, changes: patches ?? 0, files: files ?? 0, folder: 0 };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    turn(by);
    const list = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role=tab]');
    const at = TABS.indexOf(current);
    list?.[(at + by + TABS.length) % TABS.length]?.focus();
  };
  return (
    <div className={css.tabs}>
      <div className={ui.tabs} role="tablist" aria-label={t.task.tabs.label}>
        {TABS.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-selected={current === tab}
            aria-controls="tab-panel"
            tabIndex={current === tab ? 0 : -1}
            className={ui.tab}
            onClick={() => choose(tab)}
            onKeyDown={onKeyDown}
          >
            {t.task.tabs[tab]}
            {counts[tab] > 0 && <span className={ui.count}>{counts[tab]}</span>}
          </button>
        ))}
      </div>
    </div>
  );
}

const AllTasks = () => (
  <Link href="/tasks" className={ui.button ?? ''}>
    {t.task.allTasks}
  </Link>
);

const Gone = () => (
  <Empty icon="Search" title={t.task.gone.title} actions={<AllTasks />}>
    {t.task.gone.text}
  </Empty>
);
