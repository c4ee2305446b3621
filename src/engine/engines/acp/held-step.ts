import {
  argumentsText,
  isJsonObject,
  OWN,
  type ConversationMessage,
  textOf,
  type ToolInvocation,
} from '../../models/conversation.js';
import { ownTool } from '../../models/own-tool.js';
import type { Said, WireCall } from '../wires/wire.js';
import type { Ending, Held } from './gate.js';
import type { Asked } from './model-calls.js';

/** What becomes of a step at the door. */
export interface Next {
  /** Goes to the program. */
  give: { calls: ToolInvocation[]; said: Said } | null;
  refused: { call: ToolInvocation; error: string }[];
  /** Ends the run. */
  ends: Ending | null;
}

/** A step on record, on its way to the program: as a whole, or one call after another. */
export class HeldStep {
  private said = false;
  /** The call with which it is on record as begun, as a whole; null: it is not. */
  begun: string | null = null;
  private lastGiven: string | null = null;
  private readonly waiting: ToolInvocation[];

  private constructor(
    readonly message: ConversationMessage,
    private readonly asked: Asked | null,
  ) {
    this.waiting = message.invocations.filter(({ result }) => result === null);
  }

  static of(message: ConversationMessage, asked: Asked): HeldStep {
    return new HeldStep(message, asked);
  }

  /** Of an earlier run. */
  static ofRecord(message: ConversationMessage): HeldStep {
    return new HeldStep(message, null);
  }

  /** The calls that have not reached the program. */
  get left(): readonly ToolInvocation[] {
    return this.waiting;
  }

  get isOver(): boolean {
    return this.said && this.waiting.length === 0;
  }

  /**
   * To be called before it is recorded, when it may go to the program as soon as it is on record: that it does is then recorded with it, which spares a
   * write. @param holds as of {@link next}.
   */
  begins(holds: (call: ToolInvocation) => Held | null): void {
    if (this.waiting.every((call) => holds(call) === null)) this.begun = this.waiting.at(-1)?.toolCallId ?? null;
  }

  /**
   * Whether it is the next that this program's request is answered with.
   * @param told ids of the calls whose results the request tells.
   * @param side the request is of a thread beside that of the session.
   */
  isFor(told: ReadonlySet<string>, side = false): boolean {
    return this.lastGiven === null ? !side : told.has(this.lastGiven);
  }

  /** @param holds what stands between a call and the program; null: nothing. */
  next(holds: (call: ToolInvocation) => Held | null): Next {
    const refused: Next['refused'] = [];
    const nothing = { give: null, refused };
    const found = this.waiting.map((call) => ({ call, held: holds(call) }));
    if (found.every(({ held }) => held === null)) {
      const calls = [...this.waiting];
      if (this.said && calls.length === 0) return { ...nothing, ends: null };
      return { refused, ends: null, give: { calls, said: this.words(calls) } };
    }
    let question: Next['ends'] = null;
    for (const { call, held } of found) {
      if (held === null) return { refused, ends: null, give: { calls: [call], said: this.words([call]) } };
      if ('refused' in held) {
        refused.push({ call, error: held.refused });
        this.without(call);
      } else if ('question' in held) question ??= { call, held };
      // What stands behind it may build on what tasks come to, or on what a person has allowed.
      else return { ...nothing, ends: { call, held } };
    }
    return { ...nothing, ends: question };
  }

  /** They are on their way. */
  given(calls: readonly ToolInvocation[]): void {
    this.said = true;
    for (const call of calls) this.without(call);
    const [last] = calls.slice(-1);
    if (last !== undefined) this.lastGiven = this.idOf(last);
  }

  /** By which the program knows a call. */
  idOf(call: ToolInvocation): string {
    return this.wireCall(call).toolCallId;
  }

  /** A call that has its result, and does not go to the program. */
  without(call: ToolInvocation): void {
    const index = this.waiting.indexOf(call);
    if (index >= 0) this.waiting.splice(index, 1);
  }

  private words(calls: ToolInvocation[]): Said {
    const given = calls.map((call) => this.wireCall(call));
    if (this.said) return { calls: given };
    if (this.asked === null) return { calls: given, text: textOf(this.message.parts) };
    return { ...this.asked.wire, calls: given };
  }

  private wireCall(call: ToolInvocation): WireCall {
    const came = this.asked?.wire.calls[this.message.invocations.indexOf(call)];
    if (came !== undefined) return came;
    const { toolCallId, name, input } = call;
    return { toolCallId, name, input: argumentsText(input), ...formOf(this.message, toolCallId) };
  }
}

/**
 * The calls of an earlier run that have reached the program and have no result. The last that goes with an answer is put on record as begun before
 * that, so all before it have. A question never reaches it.
 */
export function reachedIn({ invocations }: ConversationMessage): ToolInvocation[] {
  const last = invocations.findLastIndex(({ stage }) => stage === 'begun');
  return invocations.slice(0, last + 1).filter(({ name, result }) => result === null && ownTool(name) !== 'ask');
}

function formOf({ parts }: ConversationMessage, toolCallId: string): Partial<WireCall> {
  const part = parts.find((one) => one.type === 'tool' && one.toolCallId === toolCallId);
  const own = part?.type === 'tool' ? part.providerMetadata?.[OWN] : undefined;
  const form = isJsonObject(own) ? own['form'] : undefined;
  return isJsonObject(form) ? form : {};
}
