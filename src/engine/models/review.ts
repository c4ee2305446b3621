// The comments of a review: a person's words on lines of the changes (reference §6, docs/decisions/0082).
import { codeBlock } from '../../platform/text/code-block.js';
import type { JsonValue, StoredPart } from './conversation.js';

/** The kind of the `custom` parts of a person's message that are comments of a review. */
export const REVIEW = 'review';

/** `data` of such a part. */
export interface ReviewComment {
  /** Relative to the root of the repository. */
  path: string;
  /** Whether the lines are those before the changes (`old`) or after them (`new`). */
  side: 'old' | 'new';
  /** The first line, from 1. */
  line: number;
  /** The last line. */
  endLine: number;
  /** What the lines say, as the person saw them. */
  quote: string;
  text: string;
}

export function reviewPart(comment: ReviewComment): StoredPart {
  const data: Record<keyof ReviewComment, JsonValue> = { ...comment };
  return { type: 'custom', kind: REVIEW, data };
}

/** The comment in a part of a person's message; null in another part. */
export function reviewIn(part: StoredPart): ReviewComment | null {
  return part.type === 'custom' && part.kind === REVIEW ? (part.data as unknown as ReviewComment) : null;
}

/** A comment as the model reads it. The quote is fenced so that nothing in it ends it: it is text of the repository. */
export function reviewText({ path, side, line, endLine, quote, text }: ReviewComment): string {
  const lines = line === endLine ? `line ${line}` : `lines ${line} to ${endLine}`;
  const place = `${path}, ${lines} ${side === 'old' ? 'before' : 'after'} the changes`;
  return `[Review comment on ${place}. The lines are quoted.]${codeBlock('text', quote)}\n\n${text}`;
}
