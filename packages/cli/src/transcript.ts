// What is new to somebody who reads along: of events, and of what is still being made (reference §17).
import type { Delta, Message, MessagePart, TaskEvent } from '@millwright/sdk';

type Part<T extends MessagePart['type']> = Extract<MessagePart, { type: T }>;
export type ToolCall = Part<'tool_call'>;

export type Entry =
  /** A message of a user. */
  | { type: 'asked'; text: string }
  /** A text of the agent begins, goes on or ends: whole, or in pieces. */
  | { type: 'text' | 'reasoning'; text: string; begins: boolean; ends: boolean }
  /** The text that was being shown is void: the model is asked again. */
  | { type: 'discarded' }
  /** What comes next belongs to this call. */
  | { type: 'call'; call: ToolCall }
  /** A line that a command has written, while it runs. */
  | { type: 'output'; line: string }
  /** `output`: what a command has written beside those lines. */
  | { type: 'result'; call: ToolCall; result: Part<'tool_result'>; output: string };

/** So many lines of a command are shown while it runs: of long output the end, which is in its result, says more. */
const LIVE_LINES = 16;

type TextDelta = Extract<Delta, { type: 'message.delta' }>;

interface Streamed {
  text: string;
  shown: number;
}

interface Running {
  call: ToolCall;
  stdout: Streamed;
  stderr: Streamed;
  lines: number;
}

/** Reads the events of one task. */
export class Transcript {
  private readonly messages = new Set<string>();
  /** What was told of the agent's texts, by `messageId/index`. */
  private readonly texts = new Map<string, string>();
  /** The calls of the last message whose results are not there yet, in their order. */
  private readonly running = new Map<string, Running>();
  /** Of the message that comes after them. */
  private early: TextDelta[] = [];
  /** The call that was told of last. */
  private told: string | null = null;

  /** Nothing for what brings no news. */
  *read(event: TaskEvent | Delta): Generator<Entry> {
    switch (event.type) {
      case 'message.delta':
        // What is passed on overtakes what is recorded: the results that it is about are on their way.
        if (this.running.size > 0) this.early.push(event);
        else yield* this.delta(event);
        break;
      case 'message.discarded':
        yield* this.discarded(event.messageId);
        break;
      case 'tool.progress':
        // What a check prints comes with its result.
        if ('toolCallId' in event) yield* this.output(event);
        break;
      case 'message.created':
      case 'message.completed':
        yield* this.message(event.data.message);
        break;
      case 'tool.completed':
        yield* this.completed(event.data);
        break;
      default:
    }
  }

  private *delta({ messageId, index, part, offset, delta }: TextDelta): Generator<Entry> {
    const place = `${messageId}/${index}`;
    const told = this.texts.get(place) ?? '';
    // After a reconnect they begin again; what does not go on where the last one ended comes with the message.
    const text = offset > told.length ? '' : delta.slice(told.length - offset);
    if (text === '') return;
    this.texts.set(place, told + text);
    yield { type: part, text, begins: told === '', ends: false };
  }

  private *discarded(messageId: string): Generator<Entry> {
    this.early = this.early.filter((delta) => delta.messageId !== messageId);
    const places = [...this.texts.keys()].filter((place) => place.startsWith(`${messageId}/`));
    for (const place of places) this.texts.delete(place);
    if (places.length > 0) yield { type: 'discarded' };
  }

  private *message({ id, role, parts }: Message): Generator<Entry> {
    const isNew = !this.messages.has(id);
    this.messages.add(id);
    if (role === 'user') {
      if (isNew) for (const part of parts) if (part.type === 'text') yield { type: 'asked', text: part.text };
      return;
    }
    if (isNew) {
      this.running.clear();
      this.early = [];
    }
    // Results come to stand between the others, which keep their order.
    for (const [index, part] of parts.filter(({ type }) => type !== 'tool_result').entries()) {
      if (part.type === 'text' || part.type === 'reasoning') yield* this.text(`${id}/${index}`, part);
      else if (part.type === 'tool_call' && isNew) {
        const stream = () => ({ text: '', shown: 0 });
        this.running.set(part.toolCallId, { call: part, stdout: stream(), stderr: stream(), lines: 0 });
      }
    }
    yield* this.next();
  }

  private *text(place: string, { type, text }: Part<'text' | 'reasoning'>): Generator<Entry> {
    const told = this.texts.get(place) ?? '';
    if (told === text) return;
    this.texts.set(place, text);
    const goesOn = told !== '' && text.startsWith(told);
    yield { type, text: goesOn ? text.slice(told.length) : text, begins: !goesOn, ends: true };
  }

  private *output({ toolCallId, stream, offset, delta }: Extract<Delta, { toolCallId: string }>): Generator<Entry> {
    const running = this.running.get(toolCallId);
    if (running === undefined || offset > running[stream].text.length) return;
    const streamed = running[stream];
    streamed.text += delta.slice(streamed.text.length - offset);
    for (let end; (end = streamed.text.indexOf('\n', streamed.shown)) >= 0 && running.lines < LIVE_LINES;) {
      yield* this.head(running.call);
      const line = streamed.text.slice(streamed.shown, end).replace(/\r$/, '');
      // A line that is written over itself ends as what stands there last.
      yield { type: 'output', line: line.slice(line.lastIndexOf('\r') + 1) };
      streamed.shown = end + 1;
      running.lines++;
    }
  }

  private *completed({ toolCallId, parts }: { toolCallId: string; parts: MessagePart[] }): Generator<Entry> {
    const result = parts.find((part) => part.type === 'tool_result');
    const running = this.running.get(toolCallId);
    if (result === undefined || running === undefined) return;
    yield* this.head(running.call);
    this.running.delete(toolCallId);
    const output = 'output' in result ? (result.output as { stdout?: unknown; stderr?: unknown } | null) : null;
    const said = [restOf(output?.stdout, running.stdout), restOf(output?.stderr, running.stderr)];
    yield { type: 'result', call: running.call, result, output: said.filter((text) => text.trim() !== '').join('\n') };
    yield* this.next();
    if (this.running.size === 0) for (const early of this.early.splice(0)) yield* this.delta(early);
  }

  /** The first call without a result: it runs, or is the next to. */
  private *next(): Generator<Entry> {
    const [first] = this.running.values();
    if (first !== undefined) yield* this.head(first.call);
  }

  private *head(call: ToolCall): Generator<Entry> {
    if (this.told !== call.toolCallId) yield { type: 'call', call };
    this.told = call.toolCallId;
  }
}

/** What was not shown while it came. Of very long output the middle is left out: then it is the whole. */
function restOf(said: unknown, { text, shown }: Streamed): string {
  if (typeof said !== 'string') return '';
  return said.startsWith(text.slice(0, shown)) ? said.slice(shown) : said;
}
