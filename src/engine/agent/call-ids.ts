import { newId } from '../../platform/database/ids.js';
import type { ConversationMessage } from '../models/conversation.js';

/** Models repeat the ids of their calls or leave them out; in a conversation they are unique. */
export class CallIds {
  private readonly taken: Set<string>;

  constructor(conversation: readonly ConversationMessage[]) {
    this.taken = new Set(conversation.flatMap(({ invocations }) => invocations.map((one) => one.toolCallId)));
  }

  /** The id, or another one in its place. */
  unique(id: string): string {
    const usable = /^[\w.:-]{1,100}$/.test(id) && !this.taken.has(id) ? id : `call_${newId()}`;
    this.taken.add(usable);
    return usable;
  }
}
