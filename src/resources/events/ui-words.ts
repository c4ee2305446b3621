import type { LiveUpdate } from '../../platform/events/event-subscriptions.js';
import type { MessageView, PartView } from '../tasks/messages/message.view.js';
import type { Words } from './event-stream.js';
import type { Batch, ShownEvent } from './feed.js';
import type { EndReason } from './subscription.js';
import { backAfterStop, comment, frame, retry, RETRY_MS } from './frames.js';
import { type Delta, LiveUpdates } from './live-updates.js';
import type { TurnFeed } from './turn-feed.js';
import type { Chunk } from './ui-chunks.js';
import { UiStep } from './ui-step.js';

const FINISH: Record<string, string> = { completed: 'stop', failed: 'error', awaiting_input: 'tool-calls' };

/** What is said of messages. */
type Said = Exclude<Delta, { type: 'tool.progress' | 'command.output' }>;

/**
 * A turn as one message of the AI SDK: its UI message stream v1, which `useChat` reads (reference §17). What was said cannot be taken
 * back there, so an attempt that is given up is marked by `data-discarded`.
 */
export class UiWords implements Words {
  readonly headers = { 'x-vercel-ai-ui-message-stream': 'v1' };
  private readonly updates: LiveUpdates;
  private started = false;
  private dated = false;
  /** Of messages that are not whole. */
  private readonly steps = new Map<string, UiStep>();
  /** The one that was begun last, until it is whole. */
  private current: UiStep | null = null;
  /** Words of the step after that: its events may come later than they do. */
  private held: Said[] = [];
  private readonly questions = new Map<string, object>();

  constructor(private readonly feed: TurnFeed) {
    this.updates = new LiveUpdates(() => feed.transparency);
  }

  begin(): string {
    return retry(RETRY_MS) + comment('the turn under way');
  }

  events(batch: Batch): string {
    this.updates.replacedBy(batch);
    const chunks = batch.shown.flatMap(({ event }) => this.event(event));
    return written([...chunks, ...this.release()]);
  }

  caughtUp(): string {
    return '';
  }

  update(update: LiveUpdate): string {
    const shown = this.updates
      .shown(update)
      .filter((one) => one.type !== 'tool.progress' && one.type !== 'command.output');
    return written(shown.flatMap((one) => this.delta(one)));
  }

  heartbeat(): string {
    return comment('heartbeat');
  }

  over(): EndReason | null {
    return this.feed.over ? 'final' : null;
  }

  end(reason: EndReason): string {
    if (reason !== 'final') return (reason === 'shutdown' ? retry(backAfterStop()) : '') + comment(reason);
    const finish = { type: 'finish', finishReason: FINISH[this.feed.status ?? ''] ?? 'other' };
    return `${written([...this.start(), ...this.close(), finish])}data: [DONE]\n\n`;
  }

  private event({ type, data }: ShownEvent): Chunk[] {
    if (type.startsWith('task.')) {
      const { status, statusReason } = data as { status: string; statusReason: object | null };
      // A worker that was killed says nothing of the words that are lost with it; the next one begins them anew.
      const lost = status === 'queued' && this.current?.recorded === false ? this.close() : [];
      return [...lost, { type: 'data-status', data: { status, statusReason }, transient: true }];
    }
    if (type.startsWith('message.')) return this.message((data as { message: MessageView }).message);
    if (type.startsWith('interaction.')) return this.question(data as Question);
    const { messageId, parts } = data as { messageId: string; parts: PartView[] };
    return this.steps.get(messageId)?.more(parts) ?? [];
  }

  /** A person's message is not part of it: its sender has it. */
  private message({ id, role, createdAt, status, parts }: MessageView): Chunk[] {
    if (role === 'user') return [];
    this.forget(id);
    const chunks = this.open(id);
    if (!this.dated) chunks.push({ type: 'message-metadata', messageMetadata: { createdAt } });
    this.dated = true;
    chunks.push(...(this.steps.get(id)?.whole(parts) ?? []));
    if (status !== 'complete') return chunks;
    this.steps.delete(id);
    return this.current?.messageId === id ? [...chunks, ...this.close()] : chunks;
  }

  /** One part for each, which its end replaces. */
  private question(data: Question): Chunk[] {
    const id = 'interaction' in data ? data.interaction.id : data.interactionId;
    const asked = 'interaction' in data ? { ...data.interaction, outcome: null } : this.questions.get(id);
    if (asked === undefined) return [];
    this.questions.set(id, asked);
    const settled = 'interaction' in data ? {} : { outcome: data.outcome };
    return [...this.start(), { type: 'data-interaction', id, data: { ...asked, ...settled } }];
  }

  private delta(one: Said): Chunk[] {
    const { current } = this;
    if (one.type === 'message.discarded') {
      this.forget(one.messageId);
      return current?.messageId === one.messageId && !current.recorded ? [...this.close(), ...this.release()] : [];
    }
    if (current !== null && current.messageId !== one.messageId) {
      this.held.push(one);
      return [];
    }
    const { messageId, part, index, offset, delta } = one;
    // The policy shows boundaries as a part; here each step has one.
    const place = this.feed.transparency.step_boundaries ? index - 1 : index;
    if (current === null && (place !== 0 || offset !== 0)) return [];
    return [...this.open(messageId), ...(this.current?.words(part, place, offset, delta) ?? [])];
  } // prettier-ignore

  private forget(messageId: string): void {
    this.held = this.held.filter((one) => one.messageId !== messageId);
  }

  /** What was held while a step was not whole. */
  private release(): Chunk[] {
    return this.current === null ? this.held.splice(0).flatMap((one) => this.delta(one)) : [];
  }

  private start(messageId?: string): Chunk[] {
    if (this.started) return [];
    this.started = true;
    return [{ type: 'start', ...(messageId !== undefined && { messageId }) }];
  }

  /** Begins the step of a message, unless it was begun. */
  private open(messageId: string): Chunk[] {
    if (this.steps.has(messageId)) return [];
    const chunks = [...this.start(messageId), ...this.close(), { type: 'start-step' }];
    this.current = new UiStep(messageId);
    this.steps.set(messageId, this.current);
    return chunks;
  }

  private close(): Chunk[] {
    const { current } = this;
    this.current = null;
    if (current === null) return [];
    const { messageId, recorded } = current;
    const discarded = recorded ? [] : [{ type: 'data-discarded', id: messageId, data: { messageId } }];
    if (!recorded) this.steps.delete(messageId);
    return [...current.giveUp(), ...discarded, { type: 'finish-step' }];
  }
}

type Question =
  { interaction: { id: string } } | { interactionId: string; outcome: string; by: { id: string; name: string } | null };

const written = (chunks: Chunk[]): string => chunks.map((chunk) => frame(chunk)).join('');
