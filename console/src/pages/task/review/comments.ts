// Comments on lines of a patch, before they are sent.
import type { ReviewComment } from '../../../api/client.ts';
import type { DiffFile, DiffLine } from '../../../ui/patch.ts';

export type Side = ReviewComment['side'];

/** Lines of one side of a file. */
export type Range = Pick<Required<ReviewComment>, 'path' | 'side' | 'line' | 'endLine'>;

export interface Comment extends Required<ReviewComment> {
  id: string;
}

/** What is written and not sent. */
export interface Draft {
  /** About all of it. */
  text: string;
  comments: Comment[];
}

/** A comment where its lines are in the patch that is shown. `outdated`: they are not in it. */
export interface Placed extends Comment {
  outdated: boolean;
}

/** What the service takes (reference §6). */
export const MOST = { comments: 100, text: 10_000, quote: 4_000 };
/** So far from where they were lines are looked for. */
const NEARBY = 200;

/** Whatever the browser has kept. */
export function readDraft(kept: string): Draft {
  try {
    const { text, comments } = JSON.parse(kept) as Partial<Draft>;
    return { text: text ?? '', comments: comments ?? [] };
  } catch {
    return { text: '', comments: [] };
  }
}

export const keepDraft = (draft: Draft): string =>
  draft.text === '' && draft.comments.length === 0 ? '' : JSON.stringify(draft);

export const isWritten = ({ text }: Comment): boolean => text.trim() !== '';

const linesOf = (file: DiffFile, side: Side): (DiffLine & Record<typeof side, number>)[] =>
  file.hunks.flatMap(({ lines }) =>
    lines.filter((line): line is DiffLine & Record<typeof side, number> => line[side] !== null),
  );

export function quoteOf(files: readonly DiffFile[], { path, side, line, endLine }: Range): string {
  const file = files.find((one) => one.path === path);
  if (file === undefined) return '';
  const quoted = linesOf(file, side).filter((one) => one[side] >= line && one[side] <= endLine);
  return (
    quoted
      .map(({ text }) => text)
      .join('\n')
      .slice(0, MOST.quote)
      // Half of a character is no text: the service refuses it.
      .replace(/[\uD800-\uDBFF]$/, '')
  );
}

/** Where the comments stand in this patch: what is quoted may have moved since, or be gone. */
export function placed(files: readonly DiffFile[], comments: readonly Comment[]): Placed[] {
  return comments.map((comment) => {
    const file = files.find(({ path }) => path === comment.path);
    const line = file === undefined ? null : lineOf(linesOf(file, comment.side), comment);
    if (line === null) return { ...comment, outdated: true };
    return { ...comment, line, endLine: line + comment.endLine - comment.line, outdated: false };
  });
}

/** The first line of what is quoted, where it is nearest to where it was; null when it is not near. */
function lineOf(lines: ReturnType<typeof linesOf>, { side, line, quote }: Comment): number | null {
  const quoted = quote.split('\n');
  // A long quote ends within a line.
  const cut = quote.length === MOST.quote;
  const isAt = (start: number) =>
    quoted.every((text, index) => {
      const found = lines[start + index]?.text;
      return cut && index === quoted.length - 1 ? found?.startsWith(text) : found === text;
    });
  let nearest: number | null = null;
  lines.forEach(({ [side]: number }, index) => {
    const away = Math.abs(number - line);
    if (away > NEARBY || (nearest !== null && away >= Math.abs(nearest - line))) return;
    // Nothing but white space is everywhere.
    if ((away === 0 || quote.trim() !== '') && isAt(index)) nearest = number;
  });
  return nearest;
}
