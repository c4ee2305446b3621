// Markdown as React elements, from marked's tokens. No HTML is ever set: what is HTML in the text is shown as text.
import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, memo, useMemo, type ReactNode } from 'react';
import { t } from '../texts/index.ts';
import { Code, languageNamed, visibleControls } from './code.tsx';
import { Terminal } from './terminal.tsx';
import css from './markdown.module.css';

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => lexed(text), [text]);
  return (
    <div className={css.markdown}>
      {tokens.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  );
});

/** So many quotes or lists in one another, begun in one line, are no text for people. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){64}/m;

function lexed(text: string): Token[] {
  // marked calls itself for each: thousands in a line end the stack, and with it the page.
  return TOO_DEEP.test(text) ? [{ type: 'code', raw: text, text }] : Lexer.lex(text);
}

const HEADINGS = ['h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

function Block({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'heading': {
      // The page has its own h1 and h2.
      const Tag = HEADINGS[(token as Tokens.Heading).depth - 1] ?? 'h6';
      return <Tag>{inline(token.tokens)}</Tag>;
    }
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'text':
      return token.tokens ? inline(token.tokens) : <>{decode((token as Tokens.Text).text)}</>;
    case 'code': {
      const { text, lang } = token as Tokens.Code;
      const name = lang?.split(/\s/)[0] ?? '';
      return (
        <figure className={css.block}>
          {lang && <figcaption>{lang}</figcaption>}
          {text.includes('\u001b') ? (
            <Terminal stdout={text} label={t.reading.output} />
          ) : (
            <Code
              code={text}
              language={name ? languageNamed(name) : null}
              label={lang ? t.reading.codeIn(name) : t.reading.code}
            />
          )}
        </figure>
      );
    }
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const rows = items.map((item, index) => (
        <li key={index} className={item.task ? css.task : undefined}>
          {item.task && (
            <input
              type="checkbox"
              checked={item.checked ?? false}
              readOnly
              disabled
              aria-label={item.checked ? t.reading.done : t.reading.open}
            />
          )}
          {item.tokens.map((child, at) =>
            child.type === 'text' && !item.loose ? (
              <Fragment key={at}>{child.tokens ? inline(child.tokens) : decode((child as Tokens.Text).text)}</Fragment>
            ) : (
              <Block key={at} token={child} />
            ),
          )}
        </li>
      ));
      return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>;
    }
    case 'blockquote':
      return (
        <blockquote>
          {token.tokens?.map((child, index) => (
            <Block key={index} token={child} />
          ))}
        </blockquote>
      );
    case 'table': {
      const { header, rows, align } = token as Tokens.Table;
      const style = (index: number) => ({ textAlign: align[index] ?? 'left' }) as const;
      return (
        <div className={css.scroll} tabIndex={0} role="group" aria-label={t.reading.table}>
          <table>
            <thead>
              <tr>
                {header.map((cell, index) =>
                  cell.text.trim() === '' ? (
                    <td key={index} />
                  ) : (
                    <th key={index} scope="col" style={style(index)}>
                      {inline(cell.tokens)}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, index) => (
                    <td key={index} style={style(index)}>
                      {inline(cell.tokens)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case 'hr':
      return <hr />;
    case 'space':
    case 'checkbox':
    case 'def':
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function inline(tokens: Token[] = []): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{span(token)}</Fragment>);
}

function span(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{visibleControls((token as Tokens.Codespan).text)}</code>;
    case 'br':
      return <br />;
    case 'link': {
      const { href } = token as Tokens.Link;
      // Only what leads to a page or a mail; anything else, javascript: above all, stays text.
      return /^(https?:|mailto:)/i.test(href) ? (
        <a href={href} target="_blank" rel="noreferrer noopener">
          {inline(token.tokens)}
        </a>
      ) : (
        inline(token.tokens)
      );
    }
    case 'image': {
      // A picture from elsewhere would tell elsewhere that this was read. Its address is shown instead.
      const { text, href } = token as Tokens.Image;
      return /^https?:/i.test(href) ? (
        <a href={href} target="_blank" rel="noreferrer noopener">
          🖼 {text || href}
        </a>
      ) : (
        text
      );
    }
    case 'escape':
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : decode((token as Tokens.Text).text);
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  rarr: '→',
};
function decode(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMED[name] ?? whole;
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
