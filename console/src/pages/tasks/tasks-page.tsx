import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Task } from '../../api/client.ts';
import { queryClient, tasksQuery, waitingQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { Body, PageHead, RefusedPage } from '../../shell/shell.tsx';
import { useShortcuts } from '../../shell/shortcuts.tsx';
import { t } from '../../texts/index.ts';
import { count } from '../../ui/format.ts';
import { Button, cx, Empty, Failure, StatusDot } from '../../ui/ui.tsx';
import { Filters, useNames } from './filters.tsx';
import { LoadingRows, Row } from './row.tsx';
import { Selection } from './selection.tsx';
import css from './tasks.module.css';
import { useFilter } from './use-filter.ts';

export default function TasksPage() {
  const can = useCan();
  if (can('tasks:read')) return <Tasks writes={can('tasks:write')} />;
  return <RefusedPage title={t.tasks.title} scope="tasks:read" />;
}

/** How far down each list was read, and at which task: one comes back to it. */
const places = new Map<string, { top: number; at: string }>();

const NONE: Task[] = [];

function Tasks({ writes }: { writes: boolean }) {
  const address = useSearch();
  const { filter, change, narrowed, clear } = useFilter();
  const list = useInfiniteQuery(tasksQuery(filter));
  const waiting = useQuery(waitingQuery).data ?? NONE;
  const { projects } = useNames();
  const names = useMemo(() => new Map(projects), [projects]);
  const loaded = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? NONE, [list.data]);
  const first = narrowed ? NONE : waiting;
  const others = useMemo(() => {
    const ids = new Set(first.map(({ id }) => id));
    return loaded.filter(({ id }) => !ids.has(id));
  }, [loaded, first]);
  const rows = useMemo(() => [...first, ...others], [first, others]);
  const tags = useMemo(() => [...new Set(rows.flatMap((task) => task.tags))].sort(), [rows]);

  const [, navigate] = useLocation();
  const body = useRef<HTMLDivElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const at = useRef(places.get(address)?.at ?? '');
  const selection = useSelection(rows);
  const [held, hold] = useState(false);

  const begun = list.data !== undefined;
  useLayoutEffect(() => {
    if (begun && body.current !== null) body.current.scrollTop = places.get(address)?.top ?? 0;
  }, [address, begun]);
  const onScroll = () => {
    const top = body.current?.scrollTop ?? 0;
    places.set(address, { top, at: at.current });
    // At the top again only the first page is kept up, unless something further down is selected.
    if (top === 0 && selection.tasks.length === 0 && (list.data?.pages.length ?? 0) > 1 && !list.isFetching)
      keepFirstPage();
  };
  const keepFirstPage = () =>
    queryClient.setQueryData(
      tasksQuery(filter).queryKey,
      (known) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    );

  const move = (by: number) => {
    const now = rows.findIndex(({ id }) => id === at.current);
    const next = rows[Math.max(0, Math.min(rows.length - 1, now + by))];
    if (next === undefined) return;
    body.current?.querySelector<HTMLElement>(`[data-row="${next.id}"]`)?.focus();
  };
  const here = () => rows.find(({ id }) => id === at.current);
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const task = here();
      if (task) navigate(`/tasks/${task.id}`);
    },
    x: () => {
      const task = here();
      if (task && writes) selection.toggle(task, false);
    },
    Escape: () => selection.clear(),
    '/': () => searchBox.current?.focus(),
  });

  const row = (task: Task) => (
    <Row
      key={task.id}
      task={task}
      project={task.projectId === null ? undefined : names.get(task.projectId)}
      byChange={filter.sort === 'updatedAt'}
      selected={selection.has(task.id)}
      onSelect={writes ? selection.toggle : null}
      onFocus={remember.current}
      onTag={addTag.current}
    />
  );
  const remember = useRef((task: Task) => void (at.current = task.id));
  const addTag = useRef((tag: string) => change({ tag }));
  addTag.current = (tag) => change({ tag });

  return (
    <>
      <PageHead title={t.tasks.title} sub={writes ? undefined : t.shell.readOnly} />
      {selection.tasks.length > 0 || held ? (
        <Selection tasks={selection.tasks} clear={selection.clear} hold={hold} />
      ) : (
        <Filters filter={filter} change={change} searchBox={searchBox} tags={tags} />
      )}
      <Body
        ref={body}
        onScroll={onScroll}
        className={cx(list.isPlaceholderData && css.stale)}
        aria-busy={list.isPlaceholderData}
      >
        {list.isError && !list.isFetchNextPageError && (
          <div className={css.note}>
            <Failure error={list.error} retry={() => void list.refetch()} />
          </div>
        )}
        {list.isPending && <LoadingRows />}
        {begun && (
          <span className="sr" role="status">
            {t.tasks.found(count(rows.length), list.hasNextPage)}
          </span>
        )}
        {first.length > 0 && (
          <section aria-labelledby="needs-you">
            <h2 id="needs-you" className={css.section}>
              <StatusDot status="awaiting_input" size={13} />
              {t.tasks.needsYou}
              <span className="num">{first.length}</span>
            </h2>
            <ul aria-labelledby="needs-you">{first.map(row)}</ul>
          </section>
        )}
        {others.length > 0 && (
          <section aria-label={first.length > 0 ? t.tasks.others : t.tasks.list}>
            {first.length > 0 && <h2 className={css.section}>{t.tasks.others}</h2>}
            <ul aria-label={t.tasks.list}>{others.map(row)}</ul>
          </section>
        )}
        {begun && rows.length === 0 && (
          <Nothing
            narrowed={narrowed}
            writes={writes}
            clear={clear}
            {...(filter.archived === 'false' && { withArchived: () => change({ archived: 'all' }) })}
          />
        )}
        {list.hasNextPage && (
          <More
            load={() => void list.fetchNextPage()}
            busy={list.isFetching}
            error={list.isFetchNextPageError ? list.error : null}
          />
        )}
      </Body>
    </>
  );
}

/** Those of the shown tasks that are selected. */
function useSelection(rows: Task[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef('');
  const order = useRef(rows);
  order.current = rows;
  /** `range`: all from the one that was clicked last. */
  const toggle = useRef((task: Task, range: boolean) => {
    const from = order.current.findIndex(({ id }) => id === last.current);
    const to = order.current.findIndex(({ id }) => id === task.id);
    last.current = task.id;
    setIds((old) => {
      const next = new Set(old);
      const on = !old.has(task.id);
      const changed = range && from !== -1 ? order.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [task];
      for (const { id } of changed) {
        if (on) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  });
  return {
    tasks: rows.filter(({ id }) => ids.has(id)),
    has: (id: string) => ids.has(id),
    toggle: toggle.current,
    clear: () => setIds(new Set()),
  };
}

function Nothing({
  narrowed,
  writes,
  clear,
  withArchived,
}: {
  narrowed: boolean;
  writes: boolean;
  clear: () => void;
  withArchived?: () => void;
}) {
  const [, navigate] = useLocation();
  if (!narrowed) {
    const create = (
      <Button look="primary" icon="Plus" keys="C" onClick={() => navigate('/new')}>
        {t.shell.newTask}
      </Button>
    );
    return (
      <Empty icon="Inbox" title={t.tasks.none.title} actions={writes && create}>
        {writes ? t.tasks.none.text : t.tasks.none.readOnly}
      </Empty>
    );
  }
  return (
    <Empty
      icon="Search"
      title={t.tasks.nothing.title}
      actions={
        <>
          {withArchived && <Button onClick={withArchived}>{t.tasks.nothing.withArchived}</Button>}
          <Button onClick={clear}>{t.tasks.clear}</Button>
        </>
      }
    >
      {t.tasks.nothing.text} {withArchived && t.tasks.nothing.archived}
    </Empty>
  );
}

/** Loads by itself when it comes near; the button is there for the keyboard. */
function More({ load, busy, error }: { load: () => void; busy: boolean; error: unknown }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (busy || error !== null) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), { rootMargin: '400px' });
    if (ref.current) observer.observe(ref.current);
    return () => observer.disconnect();
  }, [busy, error]);
  return (
    <div ref={ref} className={css.more}>
      {error === null ? (
        <Button small disabled={busy} onClick={load}>
          {busy ? t.tasks.loading : t.common.loadMore}
        </Button>
      ) : (
        <Failure error={error} retry={load} />
      )}
    </div>
  );
}
