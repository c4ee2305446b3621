// A patch as one reads it in a pull request. A plain table: selectable, searchable by the browser, readable to a screen reader.
import { memo, useMemo, useState } from 'react';
import { t } from '../texts/index.ts';
import { languageOf, visibleControls, useHighlighter } from './code.tsx';
import { count } from './format.ts';
import type { Token } from './highlight.ts';
import { Icon } from './icon.tsx';
import { readPatch, type DiffFile, type DiffHunk, type DiffLine } from './patch.ts';
import { CopyButton, cx } from './ui.tsx';
import codeCss from './code.module.css';
import css from './diff.module.css';

export type DiffLayout = 'unified' | 'split';
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

export function Diff({
  files,
  layout,
  idPrefix = 'file',
}: {
  files: DiffFile[];
  layout: DiffLayout;
  idPrefix?: string;
}) {
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
        />
      ))}
    </div>
  );
}

const FileDiff = memo(function FileDiff({
  file,
  layout,
  id,
  first,
}: {
  file: DiffFile;
  layout: DiffLayout;
  id: string;
  first: boolean;
}) {
  const size = sizeOf(file);
  const [open, setOpen] = useState(first);
  const slash = file.path.lastIndexOf('/') + 1;
  return (
    <section className={cx(css.file, 'box')} id={id} aria-label={file.path}>
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
      {open && file.hunks.length > 0 && <Hunks file={file} layout={layout} />}
    </section>
  );
});

function Hunks({ file, layout }: { file: DiffFile; layout: DiffLayout }) {
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

type Colour = ((code: string) => Token[][]) | null;

function HunkRows({ hunk, layout, colour }: { hunk: DiffHunk; layout: DiffLayout; colour: Colour }) {
  // Each side is coloured as a whole, so that what spans lines is seen; then taken apart into lines again.
  const tokens = useMemo(() => {
    const map = new Map<DiffLine, Token[]>();
    if (colour === null) return map;
    for (const side of ['del', 'add'] as const) {
      const lines = hunk.lines.filter((line) => line.kind === side || line.kind === 'same');
      const coloured = colour(lines.map((line) => line.text).join('\n'));
      lines.forEach((line, index) => map.set(line, coloured[index] ?? []));
    }
    return map;
  }, [hunk, colour !== null]);
  const text = (line: DiffLine) => <Text line={line} tokens={tokens.get(line)} />;
  if (layout === 'split')
    return pairs(hunk.lines).map(([left, right], index) => (
      <tr key={index}>
        <Number_ line={left} side="old" />
        <td className={cx(css.code, left && css[left.kind])}>{left && text(left)}</td>
        <Number_ line={right} side="new" />
        <td className={cx(css.code, right && css[right.kind])}>{right && text(right)}</td>
      </tr>
    ));
  return hunk.lines.map((line, index) => (
    <tr key={index} className={css[line.kind]}>
      <td className={css.n}>{line.old}</td>
      <td className={css.n}>{line.new}</td>
      <td className={css.code}>
        <span
          className={css.sign}
          aria-label={
            line.kind === 'add' ? t.reading.diff.added : line.kind === 'del' ? t.reading.diff.removed : undefined
          }
        >
          {line.kind === 'add' ? '+' : line.kind === 'del' ? '−' : ' '}
        </span>
        {text(line)}
      </td>
    </tr>
  ));
}

const Number_ = ({ line, side }: { line: DiffLine | null; side: 'old' | 'new' }) => (
  <td className={cx(css.n, line && css[line.kind])}>{line?.[side]}</td>
);

function pairs(lines: DiffLine[]): [DiffLine | null, DiffLine | null][] {
  const rows: [DiffLine | null, DiffLine | null][] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let k = 0; k < Math.max(removed.length, added.length); k += 1)
      rows.push([removed[k] ?? null, added[k] ?? null]);
    removed = [];
    added = [];
  };
  for (const line of lines) {
    // What is removed after something was added begins a new pair.
    if (line.kind !== 'add' && added.length > 0) flush();
    if (line.kind === 'del') removed.push(line);
    else if (line.kind === 'add') added.push(line);
    else {
      flush();
      rows.push([line, line]);
    }
  }
  flush();
  return rows;
}

/** Colours of the language below, marks of what changed above: cut where either of them begins or ends. */
function Text({ line, tokens }: { line: DiffLine; tokens: Token[] | undefined }) {
  const parts = tokens ?? [{ text: line.text, kind: '' }];
  if (line.marks === undefined || line.marks.length === 0)
    return parts.map(({ text, kind }, index) =>
      kind === '' ? (
        visibleControls(text)
      ) : (
        <span key={index} className={codeCss[kind.replace('hljs-', 'h-')]}>
          {visibleControls(text)}
        </span>
      ),
    );
  const out: { text: string; kind: string; marked: boolean }[] = [];
  let at = 0;
  for (const { text, kind } of parts) {
    let rest = text;
    while (rest !== '') {
      const mark = line.marks.find(([, to]) => to > at);
      const marked = mark !== undefined && mark[0] <= at;
      const until = mark === undefined ? Infinity : marked ? mark[1] : mark[0];
      const length = Math.min(rest.length, until - at);
      out.push({ text: rest.slice(0, length), kind, marked });
      rest = rest.slice(length);
      at += length;
    }
  }
  return out.map(({ text, kind, marked }, index) => (
    <span key={index} className={cx(kind && codeCss[kind.replace('hljs-', 'h-')], marked && css.mark)}>
      {visibleControls(text)}
    </span>
  ));
}
