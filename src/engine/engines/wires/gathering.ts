import { ModelError } from '../../models/model-provider.js';
import { EventStream } from './event-stream.js';
import { type Fields, fields, isFields, text } from './fields.js';
import type { AnswerReader, WireAnswer, Words } from './wire.js';

/** Far more than a model writes: what goes on so long does not end. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What a wire makes of its events; a whole answer is one of them. */
export interface Gatherer {
  event(value: Fields): Words[];
  /** The line `[DONE]`, with which servers in the manner of OpenAI end a stream. */
  done?(): void;
  answer(): WireAnswer;
}

/** The bytes of an answer, streamed or in one piece of JSON. */
export class Gathering implements AnswerReader {
  private readonly stream: EventStream | null;
  private readonly chunks: Uint8Array[] = [];
  private bytes = 0;
  private failed: WireAnswer['failed'] = null;

  constructor(
    contentType: string,
    private readonly gatherer: Gatherer,
  ) {
    this.stream = /event-stream/i.test(contentType) ? new EventStream() : null;
  }

  add(chunk: Uint8Array): Words[] {
    this.bytes += chunk.byteLength;
    if (this.bytes > MOST_BYTES) throw new ModelError("The model's provider sent an answer without end.", false);
    if (this.stream !== null) return this.stream.add(chunk).flatMap((data) => this.take(data));
    this.chunks.push(chunk);
    return [];
  }

  end(): WireAnswer {
    const { gatherer } = this;
    const rest = this.stream === null ? [Buffer.concat(this.chunks).toString('utf8')] : this.stream.end();
    // A last line that is no JSON is one that broke off.
    for (const data of rest) this.take(data, true);
    const answer = gatherer.answer();
    const failed = answer.failed ?? this.failed;
    return { ...answer, failed, complete: answer.complete && failed === null };
  }

  private take(data: string, isLast = false): Words[] {
    if (data.trim() === '[DONE]') {
      this.gatherer.done?.();
      return [];
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // What the line should have said is missing from the answer.
      if (!isLast) this.failed ??= unreadable('A line of it is no JSON.');
      return [];
    }
    return isFields(value) ? this.gatherer.event(value) : [];
  }
}

export function unreadable(message: string): { code: string; message: string } {
  return { code: 'unreadable', message };
}

/** What an `error` of a provider says, in whichever of the usual forms. */
export function failureIn(error: unknown): { code: string; message: string } {
  if (typeof error === 'string') return { code: 'error', message: error };
  const { code, type, message } = fields(error);
  const named = typeof code === 'number' ? String(code) : text(code);
  return { code: named || text(type) || 'error', message: text(message) };
}
