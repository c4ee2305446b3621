import type { ConversationMessage } from '../models/conversation.js';
import { isSeen } from '../web/seen-urls.js';
import type { AgentInput } from './agent-engine.js';
import type { WebUse } from './agent-tool.js';

/** What the runs of a turn read of the web, all of them together; null: nothing. */
export function webUse({ web }: Pick<AgentInput, 'web'>) {
  if (web === undefined) return null;
  let count = web.fetched;
  return (conversation: readonly ConversationMessage[]): WebUse => ({
    begin: () => ++count,
    isSeen: (url) => isSeen(url, conversation),
  });
}
