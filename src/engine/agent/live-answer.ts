import { newId } from '../../platform/database/ids.js';
import type { LiveEvent, LiveKind } from './agent-engine.js';
import type { ToolContext } from './agent-tool.js';
import { cleanText } from './clean-json.js';

const HIGH_SURROGATE = /[\ud800-\udbff]$/;

/**
 * An answer while it is made: passes on its words, and has the id that its message will have. An attempt that is given up takes its
 * id with it, so what was passed on under an id is always the beginning of what is recorded under it.
 */
export class LiveAnswer {
  messageId = newId();
  private kinds: LiveKind[] = [];
  /** The first half of a character, when the chunk ended within it. */
  private half = '';
  private passed = false;

  constructor(private readonly passOn: ((event: LiveEvent) => void) | undefined) {}

  /** Another attempt begins. `fallback`: it is another model's, which the answer says in a part of its own. */
  begin(fallback: boolean): void {
    this.kinds = fallback ? ['step_start', 'data'] : ['step_start'];
  }

  words(part: 'text' | 'reasoning', words: string): void {
    if (this.passOn === undefined) return;
    const text = this.half + words;
    this.half = HIGH_SURROGATE.exec(text)?.[0] ?? '';
    this.pass(part, text.slice(0, text.length - this.half.length));
  }

  /** The part that the words were of is whole. */
  closed(kind: LiveKind): void {
    if (this.half !== '' && (kind === 'text' || kind === 'reasoning')) this.pass(kind, this.half);
    this.half = '';
    this.kinds.push(kind);
  }

  /** The attempt is given up, or its parts have other indexes than were streamed. */
  discard(): void {
    this.half = '';
    if (!this.passed) return;
    this.passOn?.({ type: 'discarded', messageId: this.messageId });
    this.messageId = newId();
    this.passed = false;
  }

  private pass(part: 'text' | 'reasoning', words: string): void {
    if (words === '' || this.passOn === undefined) return;
    const { messageId, kinds } = this;
    this.passed = true;
    this.passOn({ type: 'words', messageId, kinds: [...kinds, part], delta: cleanText(words) });
  }
}

/** By which a call is known. */
export interface CallRef {
  messageId: string;
  toolCallId: string;
}

/** Passes on what a call prints while it works. */
export function progressOf(
  call: CallRef,
  passOn: ((event: LiveEvent) => void) | undefined,
): NonNullable<ToolContext['progress']> {
  return (stream, chunk) => passOn?.({ type: 'output', ...call, stream, chunk });
}
