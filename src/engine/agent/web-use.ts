import type { ConversationMessage } from '../models/conversation.js';
import { isSeen, urlsIn } from '../web/seen-urls.js';
import type { AgentInput } from './agent-engine.js';
import type { WebUse } from './agent-tool.js';

/** What the runs of a turn read of the web, all of them together; null: nothing. */
export function webUse({ web, instructions = '' }: Pick<AgentInput, 'web' | 'instructions'>) {
  if (web === undefined) return null;
  let count = web.fetched;
  const told = urlsIn(instructions, true);
  return (conversation: readonly ConversationMessage[]): WebUse => ({
    begin: () => ++count,
    isSeen: (url) => told.has(url.href) || isSeen(url, conversation),
  });
}
