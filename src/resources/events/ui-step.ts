import type { PartView } from '../tasks/messages/message.view.js';
import { type Chunk, chunksOf, textDelta, textEnd, textStart } from './ui-chunks.js';

/** A text that was begun before it was recorded. */
interface Begun {
  type: 'text' | 'reasoning';
  id: string;
  text: string;
}

/** What was told of one message of the assistant, to tell each of its parts once. */
export class UiStep {
  /** It is on record: what was said before is the beginning of that. */
  recorded = false;
  /** In the order of their places; none is ended before the record says that it is whole. */
  private begun: Begun[] = [];
  /** As JSON. */
  private readonly told: string[] = [];
  private readonly calls = new Set<string>();
  private texts = 0;

  constructor(readonly messageId: string) {}

  /** Words of the part at `place` of those that are shown. What does not go on with the parts before it comes with the record. */
  words(type: Begun['type'], place: number, offset: number, delta: string): Chunk[] {
    const begun = this.begun[place];
    if (begun !== undefined) {
      if (begun.type !== type || begun.text.length !== offset) return [];
      begun.text += delta;
      return [textDelta(type, begun.id, delta)];
    }
    if (place !== this.begun.length || offset !== 0) return [];
    const id = this.newId();
    this.begun.push({ type, id, text: delta });
    return [textStart(type, id), textDelta(type, id, delta)];
  }

  /** All of the message as it is by now. */
  whole(parts: readonly PartView[]): Chunk[] {
    const told = [...this.told];
    const chunks = parts.flatMap((part) => {
      const before = told.indexOf(JSON.stringify(part));
      if (before < 0) return this.tell(part);
      told.splice(before, 1);
      return [];
    });
    this.recorded = true;
    return [...chunks, ...this.giveUp()];
  }

  /** Parts that are new. A result of a call that was not shown is not told. */
  more(parts: readonly PartView[]): Chunk[] {
    return parts.flatMap((part) => this.tell(part));
  }

  /** Ends the texts that were begun and are not recorded. */
  giveUp(): Chunk[] {
    return this.begun.splice(0).map(({ type, id }) => textEnd(type, id));
  }

  private tell(part: PartView): Chunk[] {
    if (part.type === 'tool_call') this.calls.add(part.toolCallId);
    if (part.type === 'tool_result' && !this.calls.has(part.toolCallId)) return [];
    this.told.push(JSON.stringify(part));
    return (part.type === 'text' || part.type === 'reasoning' ? this.rest(part) : null) ?? chunksOf(part, this.newId());
  }

  /** The rest of a text that was begun; null when it was not. */
  private rest({ type, text }: Extract<PartView, { text: string }>): Chunk[] | null {
    const at = this.begun.findIndex((one) => one.type === type && text.startsWith(one.text));
    const [one] = at < 0 ? [] : this.begun.splice(at, 1);
    if (one === undefined) return null;
    const rest = text.slice(one.text.length);
    return [...(rest === '' ? [] : [textDelta(type, one.id, rest)]), textEnd(type, one.id)];
  }

  private newId(): string {
    return `${this.messageId}-${this.texts++}`;
  }
}
