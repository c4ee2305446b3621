// The lines of a patch. They are drawn in runs: what changes below one line draws its run anew, and nothing else.
import { Fragment, memo, type ReactNode, useMemo } from 'react';
import { t } from '../texts/index.ts';
import { visibleControls } from './code.tsx';
import type { Token } from './highlight.ts';
import type { DiffHunk, DiffLine } from './patch.ts';
import { cx } from './ui.tsx';
import codeCss from './code.module.css';
import css from './diff.module.css';

export type DiffLayout = 'unified' | 'split';

/** What stands below the last one of some lines of a file, which are marked. */
export interface Noted {
  key: string;
  side: 'old' | 'new';
  line: number;
  endLine: number;
  node: ReactNode;
}

type Colour = ((code: string) => Token[][]) | null;
/** A line, or two of them side by side. */
type Row = [DiffLine | null, DiffLine | null];

const RUN = 60;
const NONE: readonly Noted[] = [];

interface HunkProps {
  hunk: DiffHunk;
  layout: DiffLayout;
  colour: Colour;
  noted: readonly Noted[];
}

export function HunkRows({ hunk, layout, colour, noted }: HunkProps) {
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
  const runs = useMemo(() => {
    const rows = layout === 'split' ? pairs(hunk.lines) : hunk.lines.map((line): Row => [line, line]);
    return Array.from({ length: Math.ceil(rows.length / RUN) }, (_, index) =>
      rows.slice(index * RUN, (index + 1) * RUN),
    );
  }, [hunk, layout]);
  return runs.map((rows, index) => {
    const here = noted.length === 0 ? NONE : noted.filter((one) => rows.some((row) => isIn(row, one)));
    return <Rows key={index} rows={rows} layout={layout} tokens={tokens} noted={here.length > 0 ? here : NONE} />;
  });
}

const isIn = ([left, right]: Row, { side, line, endLine }: Noted) => {
  const number = side === 'old' ? left?.old : right?.new;
  return typeof number === 'number' && number >= line && number <= endLine;
};

interface RowsProps {
  rows: Row[];
  layout: DiffLayout;
  tokens: ReadonlyMap<DiffLine, Token[]>;
  noted: readonly Noted[];
}

const Rows = memo(function Rows({ rows, layout, tokens, noted }: RowsProps) {
  const text = (line: DiffLine) => <Text line={line} tokens={tokens.get(line)} />;
  const below = (row: Row, here: readonly Noted[]) =>
    here
      .filter(({ side, endLine }) => (side === 'old' ? row[0]?.old : row[1]?.new) === endLine)
      .map(({ key, node }) => (
        <tr key={key}>
          <td colSpan={layout === 'split' ? 4 : 3} className={css.below}>
            <div>{node}</div>
          </td>
        </tr>
      ));
  return rows.map((row, index) => {
    const here = noted.length === 0 ? NONE : noted.filter((one) => isIn(row, one));
    const side = here[0]?.side;
    const [left, right] = row;
    return (
      <Fragment key={index}>
        {layout === 'split' ? (
          <tr data-noted={side}>
            <Number_ line={left} side="old" />
            <td className={cx(css.code, left && css[left.kind])}>{left && text(left)}</td>
            <Number_ line={right} side="new" />
            <td className={cx(css.code, right && css[right.kind])}>{right && text(right)}</td>
          </tr>
        ) : (
          left && (
            <tr className={css[left.kind]} data-noted={side}>
              <td className={css.n}>{left.old}</td>
              <td className={css.n}>{left.new}</td>
              <td className={css.code}>
                <span
                  className={css.sign}
                  aria-label={
                    left.kind === 'add'
                      ? t.reading.diff.added
                      : left.kind === 'del'
                        ? t.reading.diff.removed
                        : undefined
                  }
                >
                  {left.kind === 'add' ? '+' : left.kind === 'del' ? '−' : ' '}
                </span>
                {text(left)}
              </td>
            </tr>
          )
        )}
        {here.length > 0 && below(row, here)}
      </Fragment>
    );
  });
});

const Number_ = ({ line, side }: { line: DiffLine | null; side: 'old' | 'new' }) => (
  <td className={cx(css.n, line && css[line.kind])}>{line?.[side]}</td>
);

function pairs(lines: DiffLine[]): Row[] {
  const rows: Row[] = [];
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
