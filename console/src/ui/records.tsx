// What pages of one thing, and lists of many, are made of.
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { isGone, isUnreachable } from '../api/client.ts';
import { t } from '../texts/index.ts';
import { Icon, type IconName } from './icon.tsx';
import { NothingHere } from './nothing.tsx';
import css from './records.module.css';
import { Button, cx, Failure, Skeleton } from './ui.tsx';

export { css as records };

/** Where this belongs. */
export const Crumb = ({ to, children }: { to: string; children: ReactNode }) => (
  <nav aria-label={t.records.up} className={css.crumb}>
    <Link href={to}>
      <Icon name="ChevronLeft" size={14} />
      {children}
    </Link>
  </nav>
);

/** From a thing that is not there. */
export function Back({ to, children }: { to: string; children: string }) {
  const [, navigate] = useLocation();
  return <Button onClick={() => navigate(to)}>{t.records.back(children)}</Button>;
}

export const Section = ({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <section className={css.section} aria-label={title}>
    <header>
      <h2>{title}</h2>
      <span className="grow" />
      {actions}
    </header>
    {about && <p className={css.about}>{about}</p>}
    {children}
  </section>
);

export const Facts = ({ children }: { children: ReactNode }) => <dl className={cx(css.facts, 'box')}>{children}</dl>;
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'busy';
const ICONS: Record<Tone, IconName> = { good: 'Check', bad: 'X', warn: 'Alert', quiet: 'Clock', busy: 'Refresh' };

/** Shape, colour and word say the same. */
export const Badge = ({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ReactNode }) => (
  <span className={cx(css.badge, css[tone])}>
    <Icon name={icon ?? ICONS[tone]} size={12} strokeWidth={2.2} />
    {children}
  </span>
);

/** What is read: while it is not there, when it is gone, when it could not be read. What was read before stays. */
export function Loaded<T>({
  query: { data, error, refetch },
  gone,
  form = false,
  children,
}: {
  query: Pick<UseQueryResult<T>, 'data' | 'error'> & { refetch: () => unknown };
  /** Leads back from a thing that is not there. */
  gone?: ReactNode;
  /** Of a form: what somebody writes in it stays, also when the thing goes. The service says so when it is sent. */
  form?: boolean;
  children: (data: T) => ReactNode;
}) {
  if (gone !== undefined && isGone(error) && !(form && data !== undefined)) {
    return <NothingHere actions={gone} />;
  }
  if (data === undefined) {
    if (error === null) return <Lines />;
    return (
      <div className={css.failure}>
        <Failure error={error} retry={() => void refetch()} />
      </div>
    );
  }
  return (
    <>
      {error !== null && !isUnreachable(error) && <Failure error={error} retry={() => void refetch()} />}
      {children(data)}
    </>
  );
}

/** A list that is read page by page, the next one by a button. `children` draws one of its entries. */
export const Pages = <T,>({
  query,
  empty,
  children,
}: {
  query: UseInfiniteQueryResult<InfiniteData<{ items: T[] }>>;
  empty: ReactNode;
  children: (item: T) => ReactNode;
}) => (
  <>
    <Loaded query={query}>
      {({ pages }) => {
        const items = pages.flatMap((page) => page.items);
        return items.length === 0 ? empty : <ul className={css.rows}>{items.map(children)}</ul>;
      }}
    </Loaded>
    {query.hasNextPage && (
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? t.common.loading : t.common.loadMore}
      </Button>
    )}
  </>
);

const Lines = () => (
  <div className={css.lines} role="status" aria-label={t.common.loading}>
    {[60, 85, 72, 90].map((width) => (
      <Skeleton key={width} w={`${width}%`} h={16} />
    ))}
  </div>
);

/** Says why what one looks for is not there. */
export const Note = ({ children }: { children: ReactNode }) => (
  <p className={css.note}>
    <Icon name="Eye" size={14} />
    <span>{children}</span>
  </p>
);
