// The AI SDK's own readers of a stream of a turn: `useChat` without a page, in the versions that the stream is for (reference §17).
import * as five from 'ai-5';
import * as six from 'ai-6';
import * as seven from 'ai-7';
import type { UIMessage } from '@millwright/sdk';
import { until } from './until.js';

/** A part of a message, without what only one version has. */
export type Part = { type: string; text?: string; data?: Record<string, unknown>; [field: string]: unknown };
export interface Message {
  id: string;
  role: string;
  metadata?: unknown;
  parts: Part[];
}

interface Chat {
  readonly messages: unknown[];
  readonly error: Error | undefined;
  resumeStream: () => Promise<void>;
}
/** What the three have in common, as far as a test goes. */
interface Library {
  AbstractChat: new (init: object) => Chat;
  DefaultChatTransport: new (init: object) => {
    reconnectToStream: (options: { chatId: string }) => Promise<ReadableStream<unknown> | null>;
  };
  readUIMessageStream: (options: object) => AsyncIterable<unknown>;
}
const LIBRARIES = { 5: five, 6: six, 7: seven } as unknown as Record<5 | 6 | 7, Library>;
export const VERSIONS = [5, 6, 7] as const;
export type Version = (typeof VERSIONS)[number];

/** The turn under way of a task, as one version of the AI SDK sees it. */
export class UiReader {
  private constructor(
    private readonly library: Library,
    private readonly transport: object,
    private readonly taskId: string,
  ) {}

  static of(version: Version, url: string, secret: string, taskId: string): UiReader {
    const library = LIBRARIES[version];
    const transport = new library.DefaultChatTransport({
      headers: { Authorization: `Bearer ${secret}`, Accept: 'text/event-stream' },
      prepareReconnectToStreamRequest: ({ id }: { id: string }) => ({
        api: `${url}/v1/tasks/${id}/events?format=ui-message-stream`,
      }),
    });
    return new UiReader(library, transport, taskId);
  }

  /** Each state of the message until the stream ends; null when no turn is under way. Rejects for what it does not understand. */
  async states(): Promise<{ all: Message[]; over: Promise<void> } | null> {
    const transport = this.transport as InstanceType<Library['DefaultChatTransport']>;
    const stream = await transport.reconnectToStream({ chatId: this.taskId });
    if (stream === null) return null;
    const all: Message[] = [];
    const over = (async () => {
      for await (const state of this.library.readUIMessageStream({ stream, terminateOnError: true })) all.push(common(state));
    })();
    over.catch(() => undefined);
    return { all, over };
  } // prettier-ignore

  /** The message of the turn. */
  async message(): Promise<Message | null> {
    const read = await this.states();
    if (read === null) return null;
    await read.over;
    return read.all.at(-1) ?? null;
  }

  /** What a page shows that was opened with these messages, when it has taken up the stream. */
  async chat(messages: readonly UIMessage[]): Promise<Message[]> {
    let failure: Error | undefined;
    const state = {
      status: 'ready',
      error: undefined,
      messages: structuredClone(messages) as unknown[],
      pushMessage: (message: unknown) => void (state.messages = [...state.messages, message]),
      popMessage: () => void (state.messages = state.messages.slice(0, -1)),
      replaceMessage: (at: number, message: unknown) => void (state.messages = state.messages.with(at, structuredClone(message))),
      snapshot: (thing: unknown) => structuredClone(thing),
    };
    const { AbstractChat } = this.library;
    const onError = (error: Error) => void (failure = error);
    const chat = new AbstractChat({ id: this.taskId, transport: this.transport, state, onError });
    await chat.resumeStream();
    await until('the chat to be ready', () => state.status === 'ready' || state.status === 'error');
    if (failure !== undefined) throw failure;
    return state.messages.map(common);
  } // prettier-ignore
}

/** Without what the stream has no word for: the names of files; and without the id that some versions give to reasoning. */
export function common(message: unknown): Message {
  const { id, role, metadata, parts } = JSON.parse(JSON.stringify(message)) as Message;
  const kept = parts.map((part) => {
    const { type, id: partId, filename: _, ...rest } = part;
    return { type, ...(type.startsWith('data-') && partId !== undefined ? { id: partId } : {}), ...rest };
  });
  return { id, role, metadata, parts: kept };
}

/** Without what the list of messages does not have: questions, and attempts that were given up, from the begin of their step on. */
export function recorded(message: Message | null | undefined): Message | null {
  if (message === null || message === undefined) return null;
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (part.type === 'data-discarded') parts.splice(parts.findLastIndex(({ type }) => type === 'step-start'));
    else if (part.type !== 'data-interaction') parts.push(part);
  }
  return { ...message, parts };
}
