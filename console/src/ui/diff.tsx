// A patch as one reads it in a pull request. A plain table: selectable, searchable by the browser, readable to a screen reader.
import { memo, useMemo, useState } from 'react';
import { t } from '../texts/index.ts';
import { languageOf, visibleControls, useHighlighter } from './code.tsx';
import { type DiffLayout, HunkRows, type Noted } from './diff-rows.tsx';
import { count } from './format.ts';
import { Icon } from './icon.tsx';
import { readPatch, type DiffFile } from './patch.ts';
import { CopyButton, cx } from './ui.tsx';
import css from './diff.module.css';

export type { DiffLayout, Noted };
const LARGE = 600;

export function Stat({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className={cx(css.stat, 'num')}>
      <span className={css.plus}>+{count(additions)}</span>
      <span className={css.minus}>−{count(deletions)}</span>
      <span className="sr">{t.reading.diff.linesOf}</span>
    </span>
  );
}

/** Null when it is none. */
export function usePatch(text: string) {
  return useMemo(() => {
    try {
      const files = readPatch(text).filter((file) => file.hunks.length > 0 || file.change !== 'modified');
      return files.length > 0 ? files : null;
    } catch {
      return null;
    }
  }, [text]);
}

/** Of a patch of many lines the first are drawn and the rest are folded, visibly: what is not drawn cannot be found by the browser. */
const MOST = 3000;
const sizeOf = (file: DiffFile) => file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);

const NONE: readonly Noted[] = [];

interface DiffProps {
  files: DiffFile[];
  layout: DiffLayout;
  idPrefix?: string;
  /** What stands below lines, by the path of the file. The lists are the same objects as long as they hold the same. */
  noted?: ReadonlyMap<string, readonly Noted[]>;
}

export const Diff = memo(function Diff({ files, layout, idPrefix = 'file', noted }: DiffProps) {
  const [all, setAll] = useState(false);
  let lines = 0;
  const drawn = files.map((file) => all || ((lines += sizeOf(file)) <= MOST && sizeOf(file) <= LARGE));
  const folded = drawn.filter((one) => !one).length;
  return (
    <div className={css.files}>
      {folded > 0 && files.length > 1 && (
        <p className={css.note_}>
          {t.reading.diff.folded(folded, files.length)}{' '}
          <button type="button" onClick={() => setAll(true)}>
            {t.reading.diff.unfoldAll}
          </button>
        </p>
      )}
      {files.map((file, index) => (
        <FileDiff
          key={`${index}${all}`}
          file={file}
          layout={layout}
          id={`${idPrefix}-${index}`}
          first={drawn[index] ?? true}
          noted={noted?.get(file.path) ?? NONE}
        />
      ))}
    </div>
  );
});

interface FileProps {
  file: DiffFile;
  layout: DiffLayout;
  id: string;
  first: boolean;
  noted: readonly Noted[];
}

const FileDiff = memo(function FileDiff({ file, layout, id, first, noted }: FileProps) {
  const size = sizeOf(file);
  const [open, setOpen] = useState(first);
  const slash = file.path.lastIndexOf('/') + 1;
  return (
    <section className={cx(css.file, 'box')} id={id} data-path={file.path} aria-label={file.path}>
      <header>
        <button
          type="button"
          className={css.fold}
          aria-expanded={open}
          aria-label={open ? t.reading.diff.fold(file.path) : t.reading.diff.unfold(file.path)}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={15} />
        </button>
        <span className={cx(css.path, 'ellipsis')} title={file.path}>
          {file.from && <span className={css.dir}>{visibleControls(file.from)} → </span>}
          <span className={css.dir}>{visibleControls(file.path.slice(0, slash))}</span>
          {visibleControls(file.path.slice(slash))}
        </span>
        {file.change !== 'modified' && <span className={css.badge}>{t.reading.diff.change[file.change]}</span>}
        <span className="grow" />
        <Stat additions={file.additions} deletions={file.deletions} />
        <CopyButton aria-label={t.reading.diff.copyPath} text={file.path} />
      </header>
      {!open && !first && (
        <button type="button" className={css.large} onClick={() => setOpen(true)}>
          {t.reading.diff.large(size)}
        </button>
      )}
      {open && file.hunks.length === 0 && (
        <p className={css.large}>{file.change === 'binary' ? t.reading.diff.binary : t.reading.diff.noLine}</p>
      )}
      {open && file.hunks.length > 0 && <Hunks file={file} layout={layout} noted={noted} />}
    </section>
  );
});

function Hunks({ file, layout, noted }: Pick<FileProps, 'file' | 'layout' | 'noted'>) {
  const highlighter = useHighlighter();
  const language = languageOf(file.path);
  return (
    <div
      className={css.scroll}
      tabIndex={0}
      role="group"
      aria-label={t.reading.diff.changesOf(file.path)}
      data-scrollable
    >
      <table className={cx(css.table, layout === 'split' && css.split)}>
        <caption className="sr">{t.reading.diff.changesOf(file.path)}</caption>
        {layout === 'split' && (
          <colgroup>
            <col className={css.nCol} />
            <col />
            <col className={css.nCol} />
            <col />
          </colgroup>
        )}
        <thead className="sr">
          <tr>
            <th scope="col">{t.reading.diff.lineBefore}</th>
            {layout === 'split' && <th scope="col">{t.reading.diff.textBefore}</th>}
            <th scope="col">{t.reading.diff.lineAfter}</th>
            <th scope="col">{layout === 'split' ? t.reading.diff.textAfter : t.reading.diff.text}</th>
          </tr>
        </thead>
        {file.hunks.map((hunk, index) => (
          <tbody key={index}>
            <tr className={css.hunk}>
              <th scope="rowgroup" colSpan={layout === 'split' ? 4 : 3}>
                {hunk.header || t.reading.diff.hunk}
              </th>
            </tr>
            <HunkRows
              hunk={hunk}
              layout={layout}
              noted={noted}
              colour={
                highlighter !== null && language !== null ? (code) => highlighter.highlight(code, language) : null
              }
            />
          </tbody>
        ))}
      </table>
    </div>
  );
}
