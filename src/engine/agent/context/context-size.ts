// How much of a model's window a conversation takes: guessed from bytes where the provider has not counted.
import type { ConversationMessage, KeptFile, StoredPart, ToolResult } from '../../models/conversation.js';
import type { ModelInfo, ToolDefinition } from '../../models/model-provider.js';
import { OUTPUT_FAULT } from '../../models/nudges.js';
import { fileKind, fileTokens, keptFiles } from '../../models/request-files.js';
import { resultText } from '../../models/result-text.js';
import { reviewIn, reviewText } from '../../models/review.js';

/** Of English and of code; what is guessed is corrected by what the provider counts with its next answer. */
export const BYTES_PER_TOKEN = 3.5;
/** What a provider may count for a text: it is believed between these. */
const FEWEST_BYTES = 1;
const MOST_BYTES = 8;
/** Of a message or a call, for what the provider writes around it. */
const AROUND = 20;

/** What a provider has counted: all that it was sent and has answered up to a message, with or without the results of its calls. */
export interface Counted {
  tokens: number;
  messageId: string;
  withResults: boolean;
}

/** Measures the parts of one run's conversation. What it has measured it remembers, because the whole is measured before every step. */
export class ContextSize {
  private readonly known = new WeakMap<object, number>();
  /** Of what is sent beside the conversation. */
  private readonly fixed: number;

  constructor(
    system: string,
    tools: ToolDefinition[],
    private readonly input: ModelInfo['input'] = ['text'],
  ) {
    this.fixed = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(tools));
  }

  /** Bytes of all that is sent. */
  bytes(messages: ConversationMessage[]): number {
    return this.fixed + sum(messages.map((one) => this.ofMessage(one)));
  }

  /** Tokens of all that is sent. What a provider counts wrongly is bounded by the bytes. */
  tokens(messages: ConversationMessage[], counted: Counted | null): number {
    const bytes = this.bytes(messages);
    const at = counted === null ? -1 : messages.findLastIndex(({ id }) => id === counted.messageId);
    const last = messages[at];
    if (counted === null || last === undefined) return Math.ceil(bytes / BYTES_PER_TOKEN);
    const added = messages.slice(at + 1).map((one) => this.ofMessage(one));
    if (!counted.withResults) added.push(...last.invocations.map((one) => this.ofResult(one)));
    const tokens = counted.tokens + Math.ceil(sum(added) / BYTES_PER_TOKEN);
    return Math.min(Math.max(tokens, Math.ceil(bytes / MOST_BYTES)), Math.ceil(bytes / FEWEST_BYTES));
  }

  ofMessage(message: ConversationMessage): number {
    return this.ofWords(message) + sum(message.invocations.map((one) => this.ofResult(one)));
  }

  /** Of a message without the results of its calls. */
  ofWords({ parts, invocations }: ConversationMessage): number {
    const calls = invocations.map(({ name, input }) => {
      const bytes = typeof input === 'object' && input !== null ? this.remembered(input, () => jsonBytes(input)) : 0;
      return AROUND + name.length + (typeof input === 'string' ? Buffer.byteLength(input) : bytes);
    });
    return (
      AROUND +
      sum(calls) +
      this.remembered(parts, () => sum(parts.map((part) => partBytes(part) + this.attachment(part))))
    );
  }

  ofResult({ result }: ConversationMessage['invocations'][number]): number {
    if (result === null) return AROUND;
    return AROUND + this.remembered(result, () => Buffer.byteLength(resultText(result)) + this.kept(result));
  }

  /** Of an attachment, whose size for the model is known only when it is sent. */
  private attachment(part: StoredPart): number {
    return part.type === 'file' ? this.ofFile(part.mediaType) : 0;
  }

  private kept(result: ToolResult): number {
    return sum(keptFiles(result).map((file) => this.ofFile(file.mediaType, file)));
  }

  /** The size of a file that the model reads, as if it were text; 0 for another one. */
  private ofFile(mediaType: string, known: Partial<KeptFile> = {}): number {
    const kind = fileKind(mediaType);
    return kind !== null && this.input.includes(kind) ? fileTokens({ kind, ...known }) * BYTES_PER_TOKEN : 0;
  }

  private remembered(key: object, measure: () => number): number {
    let bytes = this.known.get(key);
    if (bytes === undefined) this.known.set(key, (bytes = measure()));
    return bytes;
  }
}

function partBytes(part: StoredPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return Buffer.byteLength(part.text) + jsonBytes(part.providerMetadata ?? {});
    case 'surroundings':
      return Buffer.byteLength(part.text);
    case 'tool':
      return jsonBytes(part.providerMetadata ?? {});
    case 'file':
      return AROUND + Buffer.byteLength(part.path);
    case 'custom': {
      const comment = reviewIn(part);
      return comment === null ? 0 : Buffer.byteLength(reviewText(comment));
    }
    case 'data':
      // What the model reads about an answer that did not fit.
      return part.name === OUTPUT_FAULT ? AROUND + jsonBytes(part.data) : 0;
    default:
      return 0;
  }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
