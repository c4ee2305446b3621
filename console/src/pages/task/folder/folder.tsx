// What the folder of the task holds, as a snapshot has it: folders and files on one side, the chosen file on the other.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Snapshot, TaskStatus } from '../../../api/client.ts';
import { type Place, snapshotsQuery } from '../../../api/folder-queries.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Ago } from '../../../ui/ago.tsx';
import { bytes, clockTime, dayOf } from '../../../ui/format.ts';
import { Button, cx, Empty, ui } from '../../../ui/ui.tsx';
import { Reading } from '../reading.tsx';
import css from './folder.module.css';
import { EntryView } from './entry-view.tsx';
import { foldersOf } from './paths.ts';
import { Tree } from './tree.tsx';

export default function Folder({ taskId, status }: { taskId: string; status: TaskStatus | undefined }) {
  const { data: snapshots, error } = useSnapshots(taskId, status);
  const [chosen, choose] = useParam('snapshot', '');
  if (snapshots === undefined) return <Reading error={error} />;
  const [newest] = snapshots;
  if (newest === undefined) {
    return (
      <Empty icon="Folder" title={t.folder.none}>
        {t.folder.noneText}
      </Empty>
    );
  }
  const snapshot = chosen === '' ? newest : snapshots.find(({ id }) => id === chosen);
  if (snapshot === undefined) {
    return (
      <Empty
        icon="Folder"
        title={t.folder.gone}
        actions={<Button onClick={() => choose('')}>{t.folder.toNewest}</Button>}
      >
        {t.folder.goneText}
      </Empty>
    );
  }
  return (
    <div className={css.folder} role="region" aria-label={t.task.tabs.folder}>
      <div className={css.head}>
        <select
          className={cx(ui.select, css.which)}
          aria-label={t.folder.snapshot}
          value={snapshot.id}
          onChange={({ target }) => choose(target.value === newest.id ? '' : target.value)}
        >
          {snapshots.map((one) => (
            <option key={one.id} value={one.id}>
              {(one === newest ? t.folder.newest : t.folder.ofTurn)(one.turn, timeOf(one))}
            </option>
          ))}
        </select>
        <span className={css.dim}>
          {t.folder.holds(snapshot.files, bytes(snapshot.bytes))} · <Ago at={snapshot.createdAt} />
        </span>
        {status === 'running' && snapshot === newest && <span role="status">{t.folder.running}</span>}
      </div>
      <Panes taskId={taskId} snapshot={snapshot.id} />
    </div>
  );
}

const timeOf = ({ createdAt }: Snapshot) => `${dayOf(createdAt)} ${clockTime(createdAt)}`;

/** A run that ends leaves one behind. */
function useSnapshots(taskId: string, status: TaskStatus | undefined) {
  const { data, error, refetch } = useQuery(snapshotsQuery(taskId));
  useEffect(() => {
    if (status !== undefined) void refetch();
  }, [status, refetch]);
  return { data, error };
}

function Panes({ taskId, snapshot }: Omit<Place, 'path'>) {
  const [path, setPath] = useParam('path', '');
  const panes = useRef<HTMLDivElement>(null);
  // What leads to a path that the address names is unfolded. What is unfolded stays so in another snapshot, if that has it.
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set([...foldersOf(path), path]));
  const toggle = (folder: string, unfold: boolean) => {
    const next = new Set(open);
    if (unfold) next.add(folder);
    else next.delete(folder);
    setOpen(next);
  };
  const close = () => {
    setPath('');
    requestAnimationFrame(() => panes.current?.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')?.focus());
  };
  return (
    <div className={css.panes} ref={panes}>
      <div className={css.tree}>
        <Tree
          key={snapshot}
          taskId={taskId}
          snapshot={snapshot}
          path={path}
          choose={setPath}
          open={open}
          toggle={toggle}
        />
      </div>
      <EntryView key={snapshot + path} place={{ taskId, snapshot, path }} close={close} />
    </div>
  );
}
