/* eslint-disable no-control-regex -- The codes of terminals are control characters. */
// What a command printed: colours of ANSI, carriage returns as a terminal shows them. Text only, no markup is ever made of it.
import Anser from 'anser';
import { memo, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { t } from '../texts/index.ts';
import { visibleControls } from './code.tsx';
import { Button, copy, cx } from './ui.tsx';
import css from './code.module.css';

const HEAD = 400;

/** A progress bar draws over itself: what stands after the last carriage return of a line is what is seen. */
function settle(text: string): string {
  // Titles and links of the terminal (OSC), and whatever moves the cursor or clears the screen: here nothing moves.
  const lines = text
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(/\u001b\[[0-9;?]*[A-HJKSTfhlnsu]/g, '')
    .replaceAll('\r\n', '\n');
  if (!/[\r\u0008]/.test(lines)) return lines;
  return lines
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replaceAll('\r', ''))
    .map((line) => {
      // Not `\b`, which outside of brackets is a word's boundary.
      while (/[^\u0008]\u0008/.test(line)) line = line.replace(/[^\u0008]\u0008/g, '');
      return line;
    })
    .join('\n');
}

/** The bright ones are not told from the others. */
const COLORS: Record<string, string> = {
  'ansi-black': 'k',
  'ansi-red': 'r',
  'ansi-green': 'g',
  'ansi-yellow': 'y',
  'ansi-blue': 'b',
  'ansi-magenta': 'm',
  'ansi-cyan': 'c',
  'ansi-white': 'w',
};

export const Terminal = memo(function Terminal({
  stdout,
  stderr = '',
  label,
  truncated,
  live = false,
}: {
  stdout: string;
  stderr?: string;
  label: string;
  truncated?: boolean;
  /** More comes: its end stays in sight, unless one has scrolled up. */
  live?: boolean;
}) {
  const box = useEnd(live, stdout.length + stderr.length);
  const [all, setAll] = useState(false);
  const out = useMemo(() => settle(stdout).replace(/\n+$/, ''), [stdout]);
  const err = useMemo(() => settle(stderr).replace(/\n+$/, ''), [stderr]);
  const lines = useMemo(() => out.split('\n'), [out]);
  const hidden = all ? 0 : Math.max(0, lines.length - HEAD);
  const shown = hidden > 0 ? lines.slice(-HEAD).join('\n') : out;
  if (out === '' && err === '') return <p className={css.nothing}>{t.reading.noOutput}</p>;
  return (
    <div className={css.terminal}>
      {hidden > 0 && (
        <button type="button" className={css.more} onClick={() => setAll(true)}>
          {t.reading.earlierLines(hidden)}
        </button>
      )}
      <pre ref={box} tabIndex={0} role="group" aria-label={label} data-scrollable>
        {out !== '' && <Ansi text={shown} />}
        {out !== '' && err !== '' && '\n'}
        {err !== '' && (
          <span className={css.stderr}>
            <Ansi text={err} />
          </span>
        )}
      </pre>
      {truncated && <p className={css.nothing}>{t.reading.cut}</p>}
      <Button
        small
        look="ghost"
        icon="Copy"
        className={css.copy}
        aria-label={t.reading.copyOutput}
        onClick={() => void copy(Anser.ansiToText(`${out}${err && `\n${err}`}`))}
      />
    </div>
  );
});

function useEnd(live: boolean, length: number): RefObject<HTMLPreElement | null> {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!live || element === null) return;
    const onScroll = () => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [live]);
  useLayoutEffect(() => {
    if (live && follows.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [live, length]);
  return box;
}

function Ansi({ text }: { text: string }) {
  if (!text.includes('\u001b')) return visibleControls(text);
  const pieces = Anser.ansiToJson(text, { use_classes: true, remove_empty: true, json: true });
  return pieces.map((span, index) => {
    const fg = span.fg ? COLORS[span.fg.replace('bright-', '')] : undefined;
    const names = cx(
      fg && css[fg],
      span.decorations.includes('bold') && css.bold,
      span.decorations.includes('dim') && css.dim,
    );
    return names === '' ? (
      visibleControls(span.content)
    ) : (
      <span key={index} className={names}>
        {visibleControls(span.content)}
      </span>
    );
  });
}
