import { count, type Fields, fields, isFields, list, parsed, text } from './fields.js';
import { failureIn, type Gatherer, unreadable } from './gathering.js';
import { NO_USAGE, type WireAnswer, type WireCall, type Words } from './wire.js';

const REASONS: Record<string, WireAnswer['finish']> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** The call that a block is; null where it is none that the program carries out. */
export function callIn({ type, id, name, input }: Fields): WireCall | null {
  return type === 'tool_use' ? { toolCallId: text(id), name: text(name), input: JSON.stringify(input ?? {}) } : null;
}

/** An answer of Anthropic's messages. */
export class AnthropicGatherer implements Gatherer {
  /** By their index. `json`: the input of a tool, as it is written. */
  private readonly blocks = new Map<number, { block: Fields; json: string[]; said: string[] }>();
  private readonly said = { text: [] as string[], reasoning: [] as string[] };
  private usage: Fields = {};
  private reason: string | null = null;
  private isOver = false;
  private failed: WireAnswer['failed'] = null;

  event(value: Fields): Words[] {
    const index = count(value['index']);
    switch (value['type']) {
      case 'message':
        return this.whole(value);
      case 'message_start':
        return this.begin(fields(value['message']));
      case 'content_block_start':
        return this.start(index, fields(value['content_block']));
      case 'content_block_delta':
        return this.delta(index, fields(value['delta']));
      case 'message_delta':
        this.reason = text(fields(value['delta'])['stop_reason']) || this.reason;
        this.counts(value['usage']);
        return [];
      case 'message_stop':
        this.isOver = true;
        return [];
      default:
        if (value['type'] === 'error' || isFields(value['error'])) this.failed ??= failureIn(value['error']);
        return [];
    }
  }

  answer(): WireAnswer {
    const written = [...this.blocks.entries()].sort(([a], [b]) => a - b).map(([, one]) => one);
    const own = written.map(finished);
    const calls = written.flatMap(({ json }, at) => {
      const call = callIn(own[at] ?? {});
      // As the model wrote it: what was cut in the middle is no JSON.
      return call === null ? [] : [{ ...call, input: json.join('') || call.input }];
    });
    if (calls.some(({ toolCallId, name }) => toolCallId === '' || name === '')) {
      this.failed ??= unreadable('A call has no id or no name.');
    }
    return {
      text: this.said.text.join(''),
      reasoning: this.said.reasoning.join(''),
      calls,
      usage: usageOf(this.usage),
      finish: this.reason === null ? 'other' : (REASONS[this.reason] ?? 'other'),
      failed: this.failed,
      complete: this.isOver,
      own,
    };
  }

  /** An answer may begin with blocks of one before it. They stand before those that come. */
  private begin(message: Fields): Words[] {
    // A gateway that asked again in the middle of an answer, and sent on both.
    if (this.blocks.size > 0) this.failed ??= unreadable('It begins twice.');
    this.counts(message['usage']);
    const before = list(message['content']);
    return before.flatMap((block, index) => this.start(index - before.length, block));
  }

  private whole(message: Fields): Words[] {
    this.counts(message['usage']);
    this.reason = text(message['stop_reason']) || null;
    this.isOver = true;
    return list(message['content']).flatMap((block, index) => this.start(index, block));
  }

  /** What is told later counts, but for what is no number. */
  private counts(usage: unknown): void {
    const told = Object.entries(fields(usage)).filter(([, value]) => value !== null);
    this.usage = { ...this.usage, ...Object.fromEntries(told) };
  }

  private start(index: number, block: Fields): Words[] {
    this.blocks.set(index, { block, json: [], said: [] });
    return [
      ...this.say('text', block['type'] === 'text' ? text(block['text']) : '', true),
      ...this.say('reasoning', block['type'] === 'thinking' ? text(block['thinking']) : '', true),
    ];
  }

  private delta(index: number, delta: Fields): Words[] {
    const open = this.blocks.get(index);
    if (open === undefined) {
      this.failed ??= unreadable('A piece of it belongs to nothing.');
      return [];
    }
    const isFirst = open.said.length === 0 && text(open.block['text']) + text(open.block['thinking']) === '';
    switch (delta['type']) {
      case 'text_delta':
        open.said.push(text(delta['text']));
        return this.say('text', text(delta['text']), isFirst);
      case 'thinking_delta':
        open.said.push(text(delta['thinking']));
        return this.say('reasoning', text(delta['thinking']), isFirst);
      case 'signature_delta':
        open.block = { ...open.block, signature: text(open.block['signature']) + text(delta['signature']) };
        return [];
      case 'input_json_delta':
        open.json.push(text(delta['partial_json']));
        return [];
      case 'citations_delta':
        open.block = { ...open.block, citations: [...list(open.block['citations']), delta['citation']] };
        return [];
      default:
        return [];
    }
  }

  /** Between two blocks of reasoning stands an empty line; text with sources comes in many blocks that belong together. */
  private say(kind: Words['kind'], delta: string, isFirst: boolean): Words[] {
    if (delta === '') return [];
    const words = {
      kind,
      delta: kind === 'reasoning' && isFirst && this.said[kind].length > 0 ? `\n\n${delta}` : delta,
    };
    this.said[kind].push(words.delta);
    return [words];
  }
}

function finished({ block, json, said }: { block: Fields; json: string[]; said: string[] }): Fields {
  const words = said.join('');
  switch (block['type']) {
    case 'text':
      return { ...block, text: text(block['text']) + words };
    case 'thinking':
      return { ...block, thinking: text(block['thinking']) + words };
    case 'tool_use':
    case 'server_tool_use':
      return json.length === 0 ? block : { ...block, input: parsed(json.join('')) };
    default:
      return block;
  }
}

function usageOf(usage: Fields): WireAnswer['usage'] {
  if (Object.keys(usage).length === 0) return NO_USAGE;
  const cached = count(usage['cache_read_input_tokens']);
  return {
    inputTokens: count(usage['input_tokens']) + count(usage['cache_creation_input_tokens']) + cached,
    outputTokens: count(usage['output_tokens']),
    cachedInputTokens: cached,
    reasoningTokens: count(fields(usage['output_tokens_details'])['thinking_tokens']),
  };
}
