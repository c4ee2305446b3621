// The title of a task that was given none: what the first line of its content says (reference §4).
import { isName, shown } from '../../platform/text/names.js';

const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\r?\n\1[ \t]*(?:\r?\n|$)/;
/** What Markdown may mean something by. A line without it is its own title: to parse one takes 70 µs. */
const MARKS = /[*_`[\]>#~\\&+-]|^\s*\d+[.)]\s/;
/** Characters of a line that are parsed; the worst of these take 5 ms. */
const READ = 1_000;
const LONGEST = 200;
/** Of a title that a model has made. */
const LONGEST_MADE = 80;
/** Around a title, as some models write it. */
const QUOTES = /^["'“”„«»‘’]+|["'“”„«»‘’]+$/gu;

/** The first line that says something, as plain text: no marks of Markdown, one line of at most 200 characters. */
export async function titleOf(content: string): Promise<string> {
  const line = firstLine(content.replace(FRONT_MATTER, '')) ?? firstLine(content) ?? 'Task';
  const start = shown(line.slice(0, READ).replace(/\p{Cc}+/gu, ' ')).replace(/^\s*#+\s*/, '');
  const text = MARKS.test(start) ? await plainText(start) : start;
  return shortened(shown(text).trim() || start.trim());
}

/** Neither blank, nor the mark of a fence, nor marks alone: a rule, an underline, the hashes of an empty heading. */
function firstLine(content: string): string | undefined {
  return content.split('\n').find((text) => /[^\s#>*_=+-]/u.test(shown(text)) && !/^\s*(```|~~~)/.test(text));
}

async function plainText(line: string): Promise<string> {
  // Not at boot: a title of marks is the only thing that a process without the model runbook needs it for.
  const { default: MarkdownIt } = await import('markdown-it');
  const blocks = new MarkdownIt().parse(line.trim(), {});
  const pieces = blocks.flatMap(({ type, content, children }) =>
    type === 'code_block' ? [{ content }] : (children ?? []),
  );
  return pieces.map(({ content }) => content).join('');
}

/** The title in what a model has answered, at most 80 characters; null when that is no use. */
export async function titleIn(answer: string): Promise<string | null> {
  if (!/\S/.test(answer)) return null;
  const title = (await titleOf(answer)).replace(QUOTES, '').trim();
  return isName(title) ? shortened(title, LONGEST_MADE) : null;
}

/** A title of at most 200 characters. */
export function shortened(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest - 1).toWellFormed();
  return `${kept.replace(/\ufffd$/, '')}…`;
}
