import type { StoredFile } from '../../api/client.ts';
import { downloadFile } from '../../api/queries.ts';
import { remember, remembered, useParam } from '../../shell/url.ts';
import { t } from '../../texts/index.ts';
import { Ago } from '../../ui/ago.tsx';
import { exactly } from '../../ui/code.tsx';
import { Diff, type DiffLayout, Stat } from '../../ui/diff.tsx';
import { clockTime } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import type { DiffFile } from '../../ui/patch.ts';
import { Button, CopyButton, cx, Empty, Failure, Segmented, Skeleton, ui, Warning } from '../../ui/ui.tsx';
import { FileText, PatchText } from './file-text.tsx';
import css from './task.module.css';

export const isPatch = ({ origin, name, mediaType }: StoredFile): boolean =>
  origin !== 'attachment' && (/\.(patch|diff)$/i.test(name) || /x-diff|x-patch/.test(mediaType));

const LAYOUTS = [
  { value: 'unified', label: <Icon name="Rows" size={14} />, title: t.task.changes.unified },
  { value: 'split', label: <Icon name="Split" size={14} />, title: t.task.changes.split },
] as const;

interface ChangesProps {
  files: StoredFile[] | undefined;
  error: unknown;
  /** Whether there is a patch that was too large. */
  omitted: boolean;
}

export function Changes({ files, error, omitted }: ChangesProps) {
  const [fileId, setFileId] = useParam('file', '');
  const [layout, setLayout] = useParam<DiffLayout>('diff', remembered('diff', 'unified') as DiffLayout);
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
          <CopyButton look="plain" title={gitApply(file.name)} text={gitApply(file.name)}>
            {t.task.changes.copyApply}
          </CopyButton>
          <Button small icon="Download" onClick={() => downloadFile(file)}>
            {t.task.files.download}
          </Button>
        </div>
        <FileText key={file.id} fileId={file.id} most={8_000_000} h={260}>
          {(text, cut) => (
            <PatchText text={text}>{(changed) => <Patched files={changed} cut={cut} layout={layout} />}</PatchText>
          )}
        </FileText>
      </div>
    </div>
  );
}

/** For the shell of the person who pastes it. The name is the agent's choice: it must not become a command. */
function gitApply(name: string): string {
  // eslint-disable-next-line no-control-regex -- A line end would begin another command.
  const clean = name.replace(/[\u0000-\u001f\u007f]/g, '_');
  return `git apply -- ${/^[\w.+@-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", "'\\''")}'`}`;
}

export function Reading({ error }: { error: unknown }) {
  return (
    <div className={css.scroll}>
      <div className={css.wide}>{error ? <Failure error={error} /> : <Skeleton w="100%" h={260} />}</div>
    </div>
  );
}

function Patched({ files, cut, layout }: { files: DiffFile[]; cut: boolean; layout: DiffLayout }) {
  const [path, setPath] = useParam('path', '');
  const only = files.filter((file) => file.path === path);
  const total = (name: 'additions' | 'deletions') => files.reduce((sum, file) => sum + file[name], 0);
  return (
    <>
      <div className={css.changeHead}>
        <strong>{t.task.changes.changed(files.length)}</strong>
        {!cut && <Stat additions={total('additions')} deletions={total('deletions')} />}
      </div>
      {files.length > 1 && <FileChooser files={files} path={only.length > 0 ? path : ''} setPath={setPath} />}
      <Diff key={path} files={only.length > 0 ? only : files} layout={layout} idPrefix="change" />
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
