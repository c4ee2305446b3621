import { Fragment, memo, useEffect, useMemo, useState } from 'react';
import { t } from '../texts/index.ts';
import type { Token } from './highlight.ts';
import { CopyButton, cx } from './ui.tsx';
import css from './code.module.css';

const BY_EXTENSION: Record<string, string> = {
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  go: 'go',
  java: 'java',
  kt: 'kotlin',
  swift: 'swift',
  cs: 'csharp',
  c: 'cpp',
  h: 'cpp',
  cc: 'cpp',
  cpp: 'cpp',
  hpp: 'cpp',
  php: 'php',
  sh: 'bash',
  bash: 'bash',
  zsh: 'bash',
  sql: 'sql',
  json: 'json',
  yaml: 'yaml',
  yml: 'yaml',
  toml: 'ini',
  ini: 'ini',
  env: 'ini',
  html: 'xml',
  xml: 'xml',
  svg: 'xml',
  vue: 'xml',
  css: 'css',
  scss: 'css',
  md: 'markdown',
  patch: 'diff',
  diff: 'diff',
};
const BY_NAME: Record<string, string> = {
  javascript: 'javascript',
  typescript: 'typescript',
  python: 'python',
  shell: 'bash',
  console: 'bash',
  golang: 'go',
  rust: 'rust',
  ruby: 'ruby',
};

export const languageOf = (path: string) => BY_EXTENSION[path.split('.').at(-1)?.toLowerCase() ?? ''] ?? null;
export const languageNamed = (name: string) => BY_NAME[name] ?? BY_EXTENSION[name] ?? name;

type Highlighter = typeof import('./highlight.ts');
let loaded: Highlighter | null = null;
let loading: Promise<Highlighter> | null = null;

/** Null until it is there; the text is readable without. */
export function useHighlighter(): Highlighter | null {
  const [here, set] = useState(loaded);
  useEffect(() => {
    if (here !== null) return;
    let gone = false;
    loading ??= import('./highlight.ts').then((module) => (loaded = module));
    void loading.then((module) => !gone && set(module));
    return () => {
      gone = true;
    };
  }, [here]);
  return here;
}

export const Line = memo(function Line({ tokens }: { tokens: Token[] }) {
  return tokens.map(({ text, kind }, index) =>
    kind === '' ? (
      <Fragment key={index}>{visibleControls(text)}</Fragment>
    ) : (
      <span key={index} className={css[kind.replace('hljs-', 'h-')] ?? ''}>
        {visibleControls(text)}
      </span>
    ),
  );
});

/**
 * What a screen hides, shown: control characters, those that turn the direction of text, and those that take no room or look like
 * a space. Of an emoji its joiners are shown as well.
 */
export function exactly(text: string): string {
  return text
    .replace(CONTROLS, (char) => String.fromCharCode(char === '\u007f' ? 0x2421 : 0x2400 + char.charCodeAt(0)))
    .replace(HIDDEN, nameOf);
}
/** A command of several lines, in one. */
export const inOneLine = (command: string): string => exactly(command.trim().replaceAll(/\s*\n\s*/g, ' ⏎ '));
/** Those that turn the direction of text, shown: else a line may say something else than it is. */
export const visibleControls = (text: string): string => text.replace(TURNS, nameOf);

const nameOf = (char: string) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// eslint-disable-next-line no-control-regex -- These are what it is about.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const HIDDEN = /[\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f\u00a0\u115f\u1160\u2000-\u200a\u202f\u205f\u3000\u3164\uffa0]/gu;

export const Code = memo(function Code({
  code,
  language,
  label,
  numbered,
  plain,
  max,
}: {
  code: string;
  language: string | null;
  label: string;
  numbered?: boolean;
  plain?: boolean;
  max?: boolean;
}) {
  const highlighter = useHighlighter();
  const text = code.replace(/\n$/, '');
  const lines = useMemo(() => {
    if (highlighter === null || language === null || !highlighter.knows(language) || text.length > 200_000) return null;
    return highlighter.highlight(text, language);
  }, [highlighter, language, text]);
  return (
    <div className={cx(css.code, plain && css.plain)}>
      <pre tabIndex={0} role="group" aria-label={label} data-scrollable className={cx(max && css.tall)}>
        {numbered || lines
          ? (lines ?? text.split('\n').map((line) => [{ text: line, kind: '' }])).map((tokens, index) => (
              <div
                key={index}
                className={numbered ? css.numbered : css.line}
                {...(numbered && { 'data-n': index + 1 })}
              >
                <Line tokens={tokens} />
                {'\n'}
              </div>
            ))
          : visibleControls(text)}
      </pre>
      <CopyButton className={css.copy} aria-label={t.common.copy} text={code} />
    </div>
  );
});
