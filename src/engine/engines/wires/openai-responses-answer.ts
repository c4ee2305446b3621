import { count, type Fields, fields, isFields, list, text } from './fields.js';
import { failureIn, type Gatherer, unreadable } from './gathering.js';
import { callsOf } from './responses-items.js';
import { NO_USAGE, type WireAnswer, type Words } from './wire.js';

const DELTAS: Record<string, Words['kind']> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
};

/** An answer of OpenAI's responses. A whole one is what the last event of a stream holds. */
export class ResponsesGatherer implements Gatherer {
  /** By their place in the answer. */
  private readonly items = new Map<number, Fields>();
  private readonly said = { text: [] as string[], reasoning: [] as string[] };
  /** The part of which the last words of the kind were. */
  private readonly part = { text: '', reasoning: '' };
  /** Items of which words have come, in pieces. */
  private readonly heard = new Set<string>();
  private usage = NO_USAGE;
  private status = '';
  private reason = '';
  private failed: WireAnswer['failed'] = null;

  event(value: Fields): Words[] {
    const type = text(value['type']);
    const kind = DELTAS[type];
    if (kind !== undefined) return this.delta(kind, value);
    if (type === 'response.output_item.done') return this.item(fields(value['item']), value['output_index']);
    if (type === 'error' || isFields(value['error'])) {
      this.failed ??= failureIn(value['error'] ?? value);
      return [];
    }
    const response = value['object'] === 'response' ? value : fields(value['response']);
    return /^$|^response\.(completed|incomplete|failed|done)$/.test(type) ? this.end(response) : [];
  }

  answer(): WireAnswer {
    const own = [...this.items.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
    const calls = callsOf(own).map(({ call }) => call);
    if (calls.some(({ toolCallId, name }) => toolCallId === '' || name === '')) {
      this.failed ??= unreadable('A call has no id or no name.');
    }
    return {
      text: this.said.text.join(''),
      reasoning: this.said.reasoning.join(''),
      calls,
      usage: this.usage,
      finish: this.finish(calls.length > 0),
      failed: this.failed,
      complete: ['completed', 'incomplete'].includes(this.status),
      own,
    };
  }

  private finish(calls: boolean): WireAnswer['finish'] {
    if (this.status === 'completed') return calls ? 'tool_calls' : 'stop';
    if (this.reason === 'max_output_tokens') return 'length';
    return this.reason === 'content_filter' ? 'content_filter' : 'other';
  }

  private delta(kind: Words['kind'], value: Fields): Words[] {
    const place = String(value['output_index'] ?? value['item_id']);
    this.heard.add(place);
    return this.say(kind, `${place}/${count(value['summary_index'])}`, text(value['delta']));
  }

  /** Between two parts stands an empty line. */
  private say(kind: Words['kind'], part: string, delta: string): Words[] {
    if (delta === '') return [];
    const isNext = this.said[kind].length > 0 && this.part[kind] !== part;
    this.part[kind] = part;
    const words = { kind, delta: isNext ? `\n\n${delta}` : delta };
    this.said[kind].push(words.delta);
    return [words];
  }

  private item(item: Fields, index: unknown): Words[] {
    const place = typeof index === 'number' ? index : this.items.size;
    this.items.set(place, item);
    // Some servers send whole items alone.
    if (this.heard.has(String(index)) || this.heard.has(text(item['id']))) return [];
    this.heard.add(String(place));
    if (item['type'] === 'message') {
      return list(item['content']).flatMap((part) =>
        this.say('text', `${place}/0`, text(part['text']) || text(part['refusal'])),
      );
    }
    if (item['type'] !== 'reasoning') return [];
    const parts = [...list(item['summary']), ...list(item['content'])];
    return parts.flatMap((part, at) => this.say('reasoning', `${place}/${at}`, text(part['text'])));
  }

  /** Programs act on the items as they come: whatever was among them counts, whether or not the end has it too. */
  private end(response: Fields): Words[] {
    this.status = text(response['status']);
    this.reason = text(fields(response['incomplete_details'])['reason']);
    if (isFields(response['usage'])) this.usage = usageOf(response['usage']);
    if (this.status === 'failed') this.failed ??= failureIn(response['error']);
    const known = new Set([...this.items.values()].map(keyOf));
    return list(response['output'])
      .filter((item) => !known.has(keyOf(item)))
      .flatMap((item) => this.item(item, Math.max(-1, ...this.items.keys()) + 1));
  }
}

function keyOf(item: Fields): string {
  return text(item['call_id']) || text(item['id']) || JSON.stringify([item['type'], item['content']]);
}

function usageOf(usage: Fields): WireAnswer['usage'] {
  return {
    inputTokens: count(usage['input_tokens']),
    outputTokens: count(usage['output_tokens']),
    cachedInputTokens: count(fields(usage['input_tokens_details'])['cached_tokens']),
    reasoningTokens: count(fields(usage['output_tokens_details'])['reasoning_tokens']),
  };
}
