// The fenced code blocks of a Markdown text, read in a thread beside the event loop (docs/decisions/0024).
import { SideThread } from '../../../platform/threads/side-thread.js';

export interface Fence {
  /** What stands behind the opening fence, without the white space around it. */
  info: string;
  content: string;
  /** Of the opening fence, from 1. */
  line: number;
}

/** `quotesAt`: the line of the quote at which the thread gave the text up, because it has too many in a row. */
export type Reading = { fences: Fence[] } | { quotesAt: number };

const thread = new SideThread<string, Reading>(new URL('./fences.worker.mjs', import.meta.url));

/** The fences of a text in order. It takes up to a second for 200,000 characters, the longest message. */
export function fencesOf(text: string): Promise<Reading> {
  // A cheap check first: most messages have no fence.
  if (!text.includes('```') && !text.includes('~~~')) return Promise.resolve({ fences: [] });
  return thread.ask(text, { weight: text.length });
}
