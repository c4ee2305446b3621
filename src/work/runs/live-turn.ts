import { StringDecoder } from 'node:string_decoder';
import type { AgentEvent, LiveEvent } from '../../engine/agent/agent-engine.js';
import { checkId } from '../../engine/checks/check.js';
import type { EventSubscriptions, LiveUpdate, UpdateSource } from '../../platform/events/event-subscriptions.js';

/** Milliseconds from a word to the update that has it: a model writes a hundred times a second. */
const TOGETHER_MS = 50;
/** Milliseconds until what is at hand is passed on again: those who come together get it together. */
const AGAIN_MS = 150;
/** Characters that are kept of a part and of a stream of output, for who joins in between. What comes behind is not passed on. */
const KEPT = { words: 256 * 1024, output: 64 * 1024 };

/** A text that grows. */
interface Growing {
  /** What each of its updates says beside `offset` and `delta`. */
  head: LiveUpdate;
  text: string;
  /** What came before the text, and is not kept. */
  before: number;
  /** How much of it was passed on. */
  passed: number;
}

/**
 * What happens in a turn and is not recorded: keeps what is at hand, and passes it on while anybody wants it. While nobody does, it
 * only keeps.
 */
export class LiveTurn implements UpdateSource {
  private readonly growing = new Map<string, Growing>();
  private readonly decoders = new Map<string, StringDecoder>();
  private timer: NodeJS.Timeout | null = null;
  private repeating: NodeJS.Timeout | null = null;
  private readonly leave: () => void;

  constructor(
    private readonly subscriptions: EventSubscriptions,
    private readonly taskId: string,
  ) {
    this.leave = subscriptions.open(taskId, this);
  }

  readonly take = (event: LiveEvent): void => {
    if (event.type === 'words') this.words(event);
    else if (event.type === 'discarded') this.discard(event.messageId);
    else if (event.type === 'command_output') this.command(event);
    else this.output(event);
  };

  /** An event comes: what it replaces goes out before it, and nothing of that afterwards. */
  settle(event: AgentEvent): void {
    const id = replacedBy(event);
    if (id === null) return;
    this.flush();
    for (const key of this.growing.keys()) if (key.startsWith(`${id} `)) this.growing.delete(key);
    for (const key of this.decoders.keys()) if (key.startsWith(`${id} `)) this.decoders.delete(key);
  }

  again(): void {
    this.repeating ??= setTimeout(() => {
      this.repeating = null;
      for (const one of this.growing.values()) one.passed = one.before;
      this.flush();
    }, AGAIN_MS);
  }

  /** The turn is over here. Words that no event has replaced are void. */
  close(): void {
    const words = [...this.growing.values()].filter(({ head }) => head['kinds'] !== undefined);
    for (const messageId of new Set(words.map(({ head }) => String(head['messageId'])))) this.discard(messageId);
    for (const timer of [this.timer, this.repeating]) if (timer !== null) clearTimeout(timer);
    this.leave();
  }

  private words({ messageId, kinds, delta }: Extract<LiveEvent, { type: 'words' }>): void {
    this.grow(`${messageId} ${kinds.length}`, { messageId, kinds }, delta, KEPT.words);
  }

  /** It may speak for hours: the end is kept. */
  private command({ commandId, chunk }: Extract<LiveEvent, { type: 'command_output' }>): void {
    const key = `${commandId} output`;
    const decoder = this.decoders.get(key) ?? new StringDecoder('utf8');
    this.decoders.set(key, decoder);
    this.grow(key, { commandId }, decoder.write(chunk).replaceAll('\0', ''), Infinity);
    const one = this.growing.get(key);
    if (one === undefined || one.text.length <= 2 * KEPT.output) return;
    const left = one.text.length - KEPT.output;
    one.text = one.text.slice(left);
    one.before += left;
    one.passed = Math.max(one.passed, one.before);
  }

  private output({ type: _type, stream, chunk, ...of }: Extract<LiveEvent, { stream: string }>): void {
    const key = `${'toolCallId' in of ? of.toolCallId : checkId(of)} ${stream}`;
    if ((this.growing.get(key)?.text.length ?? 0) >= KEPT.output) return;
    const decoder = this.decoders.get(key) ?? new StringDecoder('utf8');
    this.decoders.set(key, decoder);
    const delta = decoder.write(chunk.subarray(0, KEPT.output)).replaceAll('\0', '');
    const head = 'toolCallId' in of ? of : { check: of.name, phase: of.phase, round: of.round };
    this.grow(key, { ...head, stream }, delta, KEPT.output);
  }

  private grow(key: string, head: LiveUpdate, delta: string, most: number): void {
    const one = this.growing.get(key) ?? { head, text: '', before: 0, passed: 0 };
    this.growing.set(key, one);
    one.text += delta.slice(0, most - one.text.length);
    if (this.timer === null && this.subscriptions.wantsUpdates(this.taskId)) {
      this.timer = setTimeout(() => this.flush(), TOGETHER_MS);
    }
  }

  private discard(messageId: string): void {
    for (const key of this.growing.keys()) if (key.startsWith(`${messageId} `)) this.growing.delete(key);
    if (this.subscriptions.wantsUpdates(this.taskId))
      this.subscriptions.pass(this.taskId, { messageId, discarded: true }, () => []);
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (!this.subscriptions.wantsUpdates(this.taskId)) return;
    for (const one of this.growing.values()) {
      const { head, text, before, passed } = one;
      if (passed >= before + text.length) continue;
      one.passed = before + text.length;
      const delta = text.slice(passed - before);
      this.subscriptions.pass(this.taskId, { ...head, offset: passed, delta }, halves);
    }
  }
}

/** The id of what an event replaces; null: nothing. */
function replacedBy(event: AgentEvent): string | null {
  switch (event.type) {
    case 'step':
      return event.messageId;
    case 'tool':
      return event.toolCallId;
    case 'command_ended':
      return `b${event.number}`;
    case 'checked':
      return checkId({ name: event.result.name, phase: event.phase, round: event.round });
    default:
      return null;
  }
}

function halves(update: LiveUpdate): LiveUpdate[] {
  const { offset, delta } = update as { offset: number; delta: string };
  const middle = delta.length >> 1;
  if (middle === 0) return [];
  return [
    { ...update, delta: delta.slice(0, middle) },
    { ...update, offset: offset + middle, delta: delta.slice(middle) },
  ];
}
