// The folders and files of a snapshot. What lies in a folder is read when it is unfolded, a hundred entries at a time.
import { useInfiniteQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useRef, useState } from 'react';
import type { FolderEntry } from '../../../api/client.ts';
import { entriesQuery, type Place } from '../../../api/folder-queries.ts';
import { t } from '../../../texts/index.ts';
import { exactly } from '../../../ui/code.tsx';
import { bytes } from '../../../ui/format.ts';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { saidBy } from '../../../ui/ui.tsx';
import css from './folder.module.css';
import { nameOf, ROOTS } from './paths.ts';

interface Props extends Place {
  /** `path` is the one that is chosen; empty for none. */
  choose: (path: string) => void;
  /** The folders that are unfolded. */
  open: ReadonlySet<string>;
  toggle: (folder: string, open: boolean) => void;
}

export function Tree(props: Props) {
  const tree = useRef<HTMLDivElement>(null);
  /** Which row Tab comes to: the last that had the focus. */
  const [current, setCurrent] = useState('');
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...(tree.current?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? [])];
    const at = rows.findIndex((row) => row === document.activeElement);
    const row = rows[at];
    if (row === undefined) return;
    const unfolded = row.getAttribute('aria-expanded');
    const above = () => rows.slice(0, at).findLastIndex((one) => levelOf(one) < levelOf(row));
    let to: number;
    if (event.key === 'ArrowDown') to = at + 1;
    else if (event.key === 'ArrowUp') to = at - 1;
    else if (event.key === 'Home') to = 0;
    else if (event.key === 'End') to = rows.length - 1;
    else if (event.key === 'ArrowRight' && unfolded === 'true') to = at + 1;
    else if (event.key === 'ArrowLeft' && unfolded !== 'true') to = above();
    else if (['Enter', ' '].includes(event.key) || (unfolded !== null && /^Arrow(Left|Right)$/.test(event.key))) {
      event.preventDefault();
      return row.click();
    } else return;
    event.preventDefault();
    rows[to]?.focus();
  };
  const at = (key: string) => ({ tabIndex: key === (current || ROOTS[0]) ? 0 : -1, onFocus: () => setCurrent(key) });
  return (
    <div ref={tree} role="tree" aria-label={t.folder.tree} onKeyDown={onKeyDown}>
      {ROOTS.map((root) => (
        <FolderRows key={root} {...props} at={at} folder={root} name={t.folder.root[root]} level={1} />
      ))}
    </div>
  );
}

const levelOf = (row: HTMLElement) => Number(row.ariaLevel);

interface Rows extends Props {
  at: (key: string) => { tabIndex: number; onFocus: () => void };
  folder: string;
  name: string;
  level: number;
}

function FolderRows(props: Rows) {
  const { at, folder, name, level, open, toggle, path, choose } = props;
  const unfolded = open.has(folder);
  return (
    <>
      <Row
        {...at(folder)}
        level={level}
        icon={unfolded ? 'ChevronDown' : 'ChevronRight'}
        name={name}
        aria-expanded={unfolded}
        aria-selected={path === folder}
        onClick={() => {
          toggle(folder, !unfolded);
          choose(folder);
        }}
      />
      {unfolded && <Entries {...props} />}
    </>
  );
}

/** What lies in an unfolded folder. */
function Entries(props: Rows) {
  const { at, taskId, snapshot, folder, path, choose } = props;
  const level = props.level + 1;
  const query = useInfiniteQuery(entriesQuery({ taskId, snapshot, path: folder }));
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = query;
  const entries = data?.pages.flatMap(({ items }) => items) ?? [];
  const more = `${folder}//more`;
  /** The focus goes on with what has come. */
  const onMore = ({ currentTarget }: MouseEvent) => {
    const last = currentTarget.previousElementSibling;
    const goOn = () => last?.nextElementSibling instanceof HTMLElement && last.nextElementSibling.focus();
    void fetchNextPage().then(() => requestAnimationFrame(goOn));
  };
  return (
    <>
      {entries.map((entry, index) =>
        entry.kind === 'folder' ? (
          <FolderRows key={index} {...props} folder={entry.path} name={nameOf(entry.path)} level={level} />
        ) : (
          <Row
            {...at(entry.path)}
            // Different bytes may be shown as the same name.
            key={index}
            level={level}
            icon={ICONS[entry.kind]}
            name={nameOf(entry.path)}
            aria-selected={path === entry.path}
            onClick={() => choose(entry.path)}
          >
            {entry.kind === 'file' && <small className="num">{bytes(entry.size)}</small>}
          </Row>
        ),
      )}
      {error !== null ? (
        <Row
          {...at(more)}
          level={level}
          icon="Refresh"
          name={`${t.folder.tryAgain} ${saidBy(error)}`}
          onClick={() => void (data === undefined ? refetch() : fetchNextPage())}
        />
      ) : isFetching ? (
        <Row {...at(more)} level={level} icon="Ellipsis" name={t.common.loading} aria-busy />
      ) : hasNextPage ? (
        <Row {...at(more)} level={level} icon="Plus" name={t.folder.more} onClick={onMore} />
      ) : (
        entries.length === 0 && <Row {...at(more)} level={level} name={t.folder.empty} aria-disabled />
      )}
    </>
  );
}

const ICONS: Record<Exclude<FolderEntry['kind'], 'folder'>, IconName> = { file: 'FileText', link: 'Link' };

interface RowProps {
  level: number;
  icon?: IconName;
  name: string;
  tabIndex: number;
  onFocus: () => void;
  onClick?: (event: MouseEvent) => void;
  'aria-expanded'?: boolean;
  'aria-selected'?: boolean;
  'aria-busy'?: boolean;
  'aria-disabled'?: boolean;
  children?: ReactNode;
}

const Row = ({ level, icon, name, children, ...props }: RowProps) => (
  <div role="treeitem" aria-level={level} className={css.row} style={{ paddingLeft: level * 14 - 4 }} {...props}>
    {icon && <Icon name={icon} size={14} />}
    <span className="ellipsis" title={exactly(name)}>
      {exactly(name)}
    </span>
    {children}
  </div>
);
