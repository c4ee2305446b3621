import { useMemo, useState } from 'react';
import type { StoredFile, Task } from '../../api/client.ts';
import { downloadFile } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { remember, remembered, useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { exactly } from '../../ui/code.tsx';
import { Diff, type DiffLayout, Stat } from '../../ui/diff.tsx';
import { clockTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import type { DiffFile } from '../../ui/patch.ts';
import { Button, cx, Empty, Segmented, ui, Warning } from '../../ui/ui.tsx';
import { ApplyLocally } from './apply-locally.tsx';
import { FileText, PatchText } from './file-text.tsx';
import { Reading } from './reading.tsx';
import { Review } from './review/review.tsx';
import css from './task.module.css';

const LAYOUTS = [
  { value: 'unified', label: <Icon name="Rows" size={14} />, title: t.task.changes.unified },
  { value: 'split', label: <Icon name="Split" size={14} />, title: t.task.changes.split },
] as const;

interface ChangesProps {
  task: Task | undefined;
  files: StoredFile[] | undefined;
  error: unknown;
  /** Whether there is a patch that was too large. */
  omitted: boolean;
}

export default function Changes({ task, files, error, omitted }: ChangesProps) {
  const [fileId, setFileId] = useParam('file', '');
  const [layout, setLayout] = useParam<DiffLayout>('diff', remembered('diff', 'unified') as DiffLayout);
  const [applying, setApplying] = useState(false);
  if (files === undefined) return <Reading error={error} />;
  const file = files.find(({ id }) => id === fileId) ?? files[0];
  if (file === undefined) {
    if (omitted)
      return (
        <div className={css.note}>
          <Warning>{t.task.changes.omitted}</Warning>
        </div>
      );
    return (
      <Empty icon="Diff" title={t.task.changes.none}>
        {t.task.changes.noneText}
      </Empty>
    );
  }
  const choose = (value: DiffLayout) => (remember('diff', value), setLayout(value));
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={t.task.tabs.changes}>
      <div className={css.wide}>
        {omitted && <Warning>{t.task.changes.omitted}</Warning>}
        <div className={css.changeHead}>
          {files.length === 1 ? (
            <strong className="ellipsis">{exactly(file.name)}</strong>
          ) : (
            <select
              className={cx(ui.select, css.which)}
              aria-label={t.task.changes.patch}
              value={file.id}
              onChange={(event) => setFileId(event.target.value)}
            >
              {files.map(({ id, name, createdAt }) => (
                <option key={id} value={id}>
                  {exactly(name)} · {clockTime(createdAt)}
                </option>
              ))}
            </select>
          )}
          <span className={css.dim}>
            <Ago at={file.createdAt} />
          </span>
          <span className="grow" />
          <Segmented label={t.task.changes.layout} value={layout} onChange={choose} options={[...LAYOUTS]} />
          <Button small icon="Terminal" aria-expanded={applying} onClick={() => setApplying(!applying)}>
            {t.task.changes.apply}
          </Button>
          <Button small icon="Download" onClick={() => downloadFile(file)}>
            {t.task.files.download}
          </Button>
        </div>
        {applying && <ApplyLocally task={task} patch={file.name} />}
        <FileText key={file.id} fileId={file.id} most={8_000_000} h={260}>
          {(text, cut) => (
            <PatchText text={text}>
              {(changed) => <Patched task={task} files={changed} cut={cut} layout={layout} />}
            </PatchText>
          )}
        </FileText>
      </div>
    </div>
  );
}

interface PatchedProps {
  task: Task | undefined;
  files: DiffFile[];
  cut: boolean;
  layout: DiffLayout;
}

function Patched({ task, files, cut, layout }: PatchedProps) {
  const [path, setPath] = useParam('path', '');
  const writes = useCan()('tasks:write');
  // The same object as long as it holds the same: a patch is not drawn anew for nothing.
  const only = useMemo(() => files.filter((file) => file.path === path), [files, path]);
  const shown = only.length > 0 ? only : files;
  const total = (name: 'additions' | 'deletions') => files.reduce((sum, file) => sum + file[name], 0);
  return (
    <>
      <div className={css.changeHead}>
        <strong>{t.task.changes.changed(files.length)}</strong>
        {!cut && <Stat additions={total('additions')} deletions={total('deletions')} />}
      </div>
      {files.length > 1 && <FileChooser files={files} path={only.length > 0 ? path : ''} setPath={setPath} />}
      {writes && task ? (
        <Review key={path} task={task} files={files} shown={shown} layout={layout} />
      ) : (
        <Diff key={path} files={shown} layout={layout} idPrefix="change" />
      )}
    </>
  );
}

interface ChooserProps {
  files: DiffFile[];
  path: string;
  setPath: (path: string) => void;
}

/** All files at once, or one of them. */
function FileChooser({ files, path, setPath }: ChooserProps) {
  const entry = (one: string, children: React.ReactNode) => (
    <button key={one} type="button" aria-pressed={path === one} onClick={() => setPath(one)}>
      {children}
    </button>
  );
  return (
    <div className={cx(css.jump, 'box')} role="group" aria-label={t.task.changes.files}>
      {entry('', <span className="ellipsis">{t.task.changes.allFiles}</span>)}
      {files.map((file) =>
        entry(
          file.path,
          <>
            <span className="ellipsis" title={file.path}>
              {exactly(file.path)}
            </span>
            <span className="grow" />
            <Stat additions={file.additions} deletions={file.deletions} />
          </>,
        ),
      )}
    </div>
  );
}
