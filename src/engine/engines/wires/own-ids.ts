import { randomUUID } from 'node:crypto';

/** An id of an answer of our own. No two have the same: Claude Code takes two answers with one id for parts of one message. */
export function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}
