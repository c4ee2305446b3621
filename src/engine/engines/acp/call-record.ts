import type { AgentEvent, AgentFeedback, LiveEvent } from '../../agent/agent-engine.js';
import type { PublishedFile, ToolContext } from '../../agent/agent-tool.js';
import { markFolders } from '../../agent/folder-mark.js';
import type { LazySandbox } from '../../agent/lazy-sandbox.js';
import type { ToolRegistry } from '../../agent/tool-registry.js';
import { type Failure, INTERRUPTED } from '../../agent/turn-outcomes.js';
import type { ConversationMessage, StoredPart, ToolInvocation, ToolResult } from '../../models/conversation.js';
import { ownTool } from '../../models/own-tool.js';
import type { Asked } from './own-tools.js';
import type { CallUpdate } from './call-update.js';

/** Nothing came of the call: the program has gone on without it. */
const UNTOLD = 'The engine told no result of this call.';
/** Not given to the program, because the turn is over. */
const NOT_STARTED = 'Not started, because the turn has ended.';

/** Calls of a step that have not reached the program. */
interface Left {
  message: ConversationMessage;
  left: readonly ToolInvocation[];
}

/** A call that has reached the program. */
export interface Given {
  message: ConversationMessage;
  call: ToolInvocation;
  /** What the program has said of it so far. */
  printed: string;
  /** Whether the program has handed it to the service, whose tool it is of. */
  taken: boolean;
}

export interface CameTo {
  result: ToolResult;
  files?: PublishedFile[];
  parts?: StoredPart[];
  /** How the turn ends with it: it cannot go on without what the call has missed. */
  ends?: Failure | null;
}

interface Deps {
  emit: (event: AgentEvent) => Promise<AgentFeedback>;
  /** Told when a result is on record. */
  recorded: (last: boolean) => void;
  passOn: ((event: LiveEvent) => void) | undefined;
  sandbox: LazySandbox;
  tools: ToolRegistry;
  kept: Pick<ToolContext, 'resultCharacters' | 'keepWhole'>;
}

/** The calls of a run that have reached the program, until their results are on record. */
export class CallRecord {
  /** By the ids by which the program knows them. */
  private readonly given = new Map<string, Given>();
  /** One result is recorded after another. */
  private chain: Promise<void> = Promise.resolve();
  private failed: Error | null = null;

  constructor(
    private readonly conversation: readonly ConversationMessage[],
    private readonly deps: Deps,
  ) {}

  /** How many have no result. */
  get open(): number {
    return this.given.size;
  }

  give(id: string, message: ConversationMessage, call: ToolInvocation): void {
    this.given.set(id, { message, call, printed: '', taken: false });
  }

  /** What the program tells beside its model. */
  update({ toolCallId, status, text, printed }: CallUpdate): void {
    const one = this.given.get(toolCallId);
    if (one === undefined || one.taken) return;
    if (printed !== null) this.passOn(one, printed);
    if (text === null) return;
    if (status === 'completed' || status === 'failed') {
      void this.end(toolCallId, {
        result: status === 'failed' ? { status: 'error', error: text } : { status: 'success', output: text },
      });
      return;
    }
    // Some tell all that has come so far again, others what is new.
    const more = text.startsWith(one.printed) ? text.slice(one.printed.length) : text;
    one.printed = text;
    this.passOn(one, more);
  }

  /** What the program tells its model. */
  told(results: readonly { toolCallId: string; text: string; isError: boolean }[]): void {
    // Some models give one id again and again: the last result of it is the one of this call.
    for (const { toolCallId, text, isError } of results.toReversed()) {
      if (!this.given.has(toolCallId)) continue;
      void this.end(toolCallId, {
        result: isError ? { status: 'error', error: text } : { status: 'success', output: text },
      });
    }
  }

  /** The call of a tool of the service that has passed the door, with these arguments, and is not carried out yet. */
  take(asked: Asked): { id: string; one: Given } | null {
    for (const [id, one] of this.given) {
      if (one.taken || ownTool(one.call.name) !== asked.name || !asked.isOf(one.call)) continue;
      one.taken = true;
      return { id, one };
    }
    return null;
  }

  /** Resolves when what has come is on record. */
  async settled(): Promise<void> {
    await this.chain;
    if (this.failed !== null) throw this.failed;
  }

  /** Records errors of all that are open. */
  async closeAll(error = UNTOLD): Promise<void> {
    for (const id of [...this.given.keys()]) void this.end(id, { result: { status: 'error', error } });
    await this.settled();
  }

  /** Records errors of all that is open in a turn that is over. @param held steps that do not reach the program any more. */
  async closeTurn(held: readonly Left[]): Promise<void> {
    await this.closeAll(INTERRUPTED);
    for (const { message, left } of held) {
      for (const call of left) await this.record(message, call, { result: { status: 'error', error: NOT_STARTED } });
    }
    await this.settled();
  }

  /** Records what a call has come to, once. */
  end(id: string, came: CameTo): Promise<void> {
    const one = this.given.get(id);
    if (one === undefined) {
      for (const { content } of came.files ?? []) content.destroy();
      return this.chain;
    }
    this.given.delete(id);
    return this.record(one.message, one.call, came);
  }

  /** Of a call that has not reached the program, too. */
  record(message: ConversationMessage, call: ToolInvocation, came: CameTo): Promise<void> {
    return (this.chain = this.chain
      .then(() => this.write(message, call, came))
      .catch((error: unknown) => {
        this.failed ??= error as Error;
        for (const { content } of came.files ?? []) content.destroy();
      }));
  }

  private passOn({ message, call }: Given, text: string): void {
    if (text === '') return;
    const about = { messageId: message.id, toolCallId: call.toolCallId };
    this.deps.passOn?.({ type: 'output', ...about, stream: 'stdout', chunk: Buffer.from(text) });
  }

  private async write(message: ConversationMessage, call: ToolInvocation, came: CameTo): Promise<void> {
    const { files = [], parts = [] } = came;
    call.result = await this.deps.tools.kept(came.result, this.deps.kept);
    const last = message.invocations.every(({ result }) => result !== null);
    if (last) await markFolders(this.conversation, this.deps.sandbox);
    const { result, ...state } = this.deps.sandbox.takeState({ result: call.result, parts });
    call.result = result;
    const about = { messageId: message.id, toolCallId: call.toolCallId, last };
    try {
      const { result: other } = await this.deps.emit({ type: 'tool', ...about, result, files, ...state });
      if (other !== undefined) call.result = other;
    } finally {
      for (const { content } of files) content.destroy();
    }
    this.deps.recorded(last);
  }
}
