import type { ConversationMessage } from '../models/conversation.js';
import { SKILL_FILE } from './skill-file.js';

const MOST = 50;

/** The names of the skills whose SKILL.md some messages have read, by whatever tool, in the order in which that was first. */
export function skillsRead(messages: readonly ConversationMessage[]): string[] {
  const calls = messages.flatMap(({ invocations }) => invocations);
  const read = calls.filter(({ result }) => result?.status === 'success').map(({ input }) => JSON.stringify(input));
  const named = read.flatMap((input) => {
    if (!input.includes(SKILL_FILE)) return [];
    return [...input.matchAll(/\/skills\/([a-z0-9-]{1,64})(?![a-z0-9-])/g)].map(([, name = '']) => name);
  });
  return [...new Set(named)].slice(0, MOST);
}
