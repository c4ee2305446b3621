import { count, type Fields, fields, isFields, list, text } from './fields.js';
import { failureIn, type Gatherer, unreadable } from './gathering.js';
import { NO_USAGE, type WireAnswer, type WireCall, type Words } from './wire.js';

const REASONS: Record<string, WireAnswer['finish']> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
};

/** A call of a message, or of an answer. */
export function callOf(call: Fields): WireCall {
  const toolCallId = text(call['id']);
  if (call['type'] !== 'custom') {
    const { name, arguments: input } = fields(call['function']);
    return { toolCallId, name: text(name), input: text(input) };
  }
  const { name, input } = fields(call['custom']);
  return { toolCallId, name: text(name), input: JSON.stringify({ input: text(input) }), form: 'custom' };
}

/** An answer of chat completions. A whole message has the fields of a piece, and is read as the only one. */
export class ChatGatherer implements Gatherer {
  private readonly texts: string[] = [];
  private readonly reasonings: string[] = [];
  /** The message put together; its calls stand apart. */
  private readonly message: Fields = { role: 'assistant' };
  private readonly calls = new Map<number, Fields>();
  private usage = NO_USAGE;
  private finish: WireAnswer['finish'] | null = null;
  private failed: WireAnswer['failed'] = null;
  private hasDone = false;

  event(value: Fields): Words[] {
    if (value['error'] !== undefined && value['error'] !== null) this.failed ??= failureIn(value['error']);
    if (isFields(value['usage'])) this.usage = usageOf(value['usage']);
    return list(value['choices']).flatMap((choice) => this.choice(choice));
  }

  done(): void {
    this.hasDone = true;
  }

  answer(): WireAnswer {
    const written = [...this.calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    const calls = written.map(callOf);
    if (calls.some(({ toolCallId, name }) => toolCallId === '' || name === '')) {
      this.failed ??= unreadable('A call has no id or no name.');
    }
    const finish = this.finish ?? 'other';
    return {
      text: this.texts.join(''),
      reasoning: this.reasonings.join(''),
      calls,
      usage: this.usage,
      finish: finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish,
      failed: this.failed,
      // Gateways, and servers of open models, end an answer without a reason.
      complete: this.finish !== null || this.hasDone,
      own: [written.length === 0 ? this.message : { ...this.message, tool_calls: written }],
    };
  }

  private choice(choice: Fields): Words[] {
    if (count(choice['index']) > 0) {
      this.failed ??= unreadable('It has more than one choice.');
      return [];
    }
    const reason = choice['finish_reason'];
    if (typeof reason === 'string') this.finish = REASONS[reason] ?? 'other';
    return this.piece(fields(choice['delta'] ?? choice['message']));
  }

  private piece({ role: _, tool_calls: calls, function_call: old, ...rest }: Fields): Words[] {
    if (old !== undefined && old !== null) this.failed ??= unreadable('It has a call that is none of a tool.');
    list(calls).forEach((call, position) => this.call(call, position));
    for (const [name, value] of Object.entries(rest)) this.message[name] = joined(this.message[name], value);
    const words: Words[] = [
      { kind: 'reasoning', delta: text(rest['reasoning_content']) || text(rest['reasoning']) },
      { kind: 'text', delta: wordsOf(rest['content']) || text(rest['refusal']) },
    ];
    const said = words.filter(({ delta }) => delta !== '');
    for (const { kind, delta } of said) (kind === 'text' ? this.texts : this.reasonings).push(delta);
    return said;
  }

  private call(call: Fields, position: number): void {
    const { index = position, id, type, function: called, custom, ...rest } = call;
    const known = this.calls.get(count(index)) ?? {};
    this.calls.set(count(index), {
      ...known,
      ...rest,
      id: text(known['id']) || text(id),
      type: text(known['type']) || text(type) || 'function',
      ...(isFields(called) ? { function: merged(fields(known['function']), called) } : {}),
      ...(isFields(custom) ? { custom: merged(fields(known['custom']), custom) } : {}),
    });
  }
}

/** The name comes once, what the model writes in pieces. */
function merged(before: Fields, { name, ...pieces }: Fields): Fields {
  const whole: Fields = { ...before, name: text(before['name']) || text(name) };
  for (const [key, value] of Object.entries(pieces)) whole[key] = joined(before[key], value);
  return whole;
}

function joined(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  if (Array.isArray(before) && Array.isArray(value)) return [...(before as unknown[]), ...(value as unknown[])];
  return value ?? before;
}

/** Some servers write a list of parts. */
function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(part['text']))
    .join('');
}

function usageOf(usage: Fields): WireAnswer['usage'] {
  return {
    inputTokens: count(usage['prompt_tokens']),
    outputTokens: count(usage['completion_tokens']),
    cachedInputTokens: count(fields(usage['prompt_tokens_details'])['cached_tokens']),
    reasoningTokens: count(fields(usage['completion_tokens_details'])['reasoning_tokens']),
  };
}
