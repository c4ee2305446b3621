// The title of a task that was given none: what the first line of its content says (reference §4).
import { shown } from '../../platform/text/names.js';

const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\r?\n\1[ \t]*(?:\r?\n|$)/;
/** What Markdown may mean something by. A line without it is its own title: to parse one takes 70 µs. */
const MARKS = /[*_`[\]>#~\\&+-]|^\s*\d+[.)]\s/;
/** Characters of a line that are parsed; the worst of these take 5 ms. */
const READ = 1_000;
const LONGEST = 200;

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

/** A title of at most 200 characters. */
export function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  const kept = text.slice(0, LONGEST - 1).toWellFormed();
  return `${kept.replace(/\ufffd$/, '')}…`;
}
