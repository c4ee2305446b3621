// Events as a client will see them, and what they amount to.
import { type Transparency, transparencyWith } from '../../src/platform/config/config-file.js';
import type { Query } from '../../src/platform/database/sql.js';
import { TaskEvents, type TaskEventView } from '../../src/resources/tasks/events/task-events.js';
import type { MessageRow } from '../../src/resources/tasks/messages/message.sql.js';
import { messageView } from '../../src/resources/tasks/messages/message.view.js';
import type { TestApp } from './app.js';
import type { Client } from './client.js';
import type { TestDatabase } from './database.js';
import { type MessageBody, type PartBody, reaches, readMessages, type TaskBody } from './tasks.js';

/** All events of a task. So many are asked for at a time: few, so that reading goes on after an event. */
export async function readEvents(db: Pick<TestDatabase, 'query'>, taskId: string, limit = 5): Promise<TaskEventView[]> {
  const sql = {
    run: async <Row>(query: Query<Row>) => query.rowsOf({ rows: await db.query(query.text, query.values) }),
  };
  const events: TaskEventView[] = [];
  for (;;) {
    const page = await new TaskEvents().read(sql, taskId, events.at(-1)?.seq ?? 0, limit);
    events.push(...page);
    if (page.length < limit) return events;
  }
}

/** What each event is called, with what tells it from others of its type. */
export function told(events: TaskEventView[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'message.created':
      case 'message.completed':
        return `${event.type} ${(event as { message: MessageRow | null }).message?.role ?? 'gone'}`;
      case 'interaction.settled':
        return `${event.type} ${(event as { outcome: string }).outcome}`;
      default:
        return event.type;
    }
  });
}

interface Folded {
  message: MessageBody & { createdAt: string };
  first: number;
}

/**
 * The messages that the events amount to, by the rule of reference §17: the last form of each message, ordered by `createdAt`,
 * then by its first event; a result stands behind its call, what a tool added at the end.
 */
export function fold(events: TaskEventView[], transparency: Transparency, origin: string): MessageBody[] {
  const folded = new Map<string, Folded>();
  const shown = (row: MessageRow) => messageView(row, { transparency, origin }) as MessageBody & { createdAt: string };
  for (const event of events) {
    if (event.type === 'message.withdrawn') folded.delete((event as { messageId: string }).messageId);
    else if ('message' in event) {
      if (event.message === null) continue;
      const message = shown(event.message);
      if (message.parts.length > 0) {
        folded.set(message.id, { message, first: folded.get(message.id)?.first ?? event.seq });
      }
    } else if ('call' in event) {
      const { call, parts } = event;
      const { toolCallId } = call;
      const row = { ...NO_MESSAGE, parts: [{ type: 'tool' as const, toolCallId }, ...parts], invocations: [call] };
      const news = shown(row).parts.filter(({ type }) => type !== 'tool_call');
      const known = folded.get(event.messageId);
      if (known !== undefined) known.message = { ...known.message, parts: withResult(known.message.parts, news) };
    }
  }
  return inOrder(folded);
}

const NO_MESSAGE = { id: '', seq: 0, turn: 1, readAt: null, role: 'assistant', status: 'in_progress', createdById: null, createdByName: null, createdAt: new Date().toISOString() } as const; // prettier-ignore

function withResult(parts: PartBody[], news: PartBody[]): PartBody[] {
  const isResult = ({ type }: PartBody) => type === 'tool_result';
  const result = news.find(isResult);
  const all = parts.flatMap((part) =>
    part.type === 'tool_call' && part.toolCallId === result?.toolCallId ? [part, result] : [part],
  );
  return [...all, ...news.filter((part) => !isResult(part))] as PartBody[];
}

/** {@link fold} of events as clients get them. */
export function foldViews(events: { type: string; seq?: unknown; [field: string]: unknown }[]): MessageBody[] {
  const folded = new Map<string, Folded>();
  for (const { type, seq, data } of events as { type: string; seq: number; data: Record<string, unknown> }[]) {
    const message = data['message'] as Folded['message'] | undefined;
    if (message !== undefined) folded.set(message.id, { message, first: folded.get(message.id)?.first ?? seq });
    if (type === 'message.withdrawn') folded.delete(data['messageId'] as string);
    const known = type === 'tool.completed' ? folded.get(data['messageId'] as string) : undefined;
    if (known === undefined) continue;
    known.message = { ...known.message, parts: withResult(known.message.parts, data['parts'] as PartBody[]) };
  }
  return inOrder(folded);
}

function inOrder(folded: Map<string, Folded>): MessageBody[] {
  return [...folded.values()]
    .sort((a, b) => a.message.createdAt.localeCompare(b.message.createdAt) || a.first - b.first)
    .map(({ message }) => message);
}

/** Everything is shown. */
export const ALL_SHOWN = transparencyWith([
  'text',
  'reasoning',
  'tool_activity',
  'files',
  'url_sources',
  'document_sources',
  'reasoning_files',
  'data',
  'custom',
  'step_boundaries',
]);

/** The numbers of the events from 1, without a gap. */
export function expectNumbered(events: TaskEventView[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
}

/** A task's events and its conversation, as one member sees and moves them. */
export class EventWatch {
  /** What the API listed when a task had so many events. */
  private readonly seen: { id: string; events: number; messages: MessageBody[] }[] = [];

  constructor(
    private readonly service: Pick<TestApp, 'db' | 'url'>,
    private readonly client: Client,
  ) {}

  /** The events so far, which amount to the list of messages at this moment: call it while nothing moves. */
  async events(id: string): Promise<TaskEventView[]> {
    const found = await readEvents(this.service.db, id);
    const messages = await readMessages(this.client, id);
    expectNumbered(found);
    expect(fold(found, ALL_SHOWN, this.service.url)).toEqual(messages);
    this.seen.push({ id, events: found.length, messages });
    return found;
  }

  /** An event never changes afterwards: what was folded at any moment is folded from the same events at the end. */
  async expectUnchanged(): Promise<void> {
    for (const { id, events: length, messages } of this.seen.splice(0)) {
      const events = await readEvents(this.service.db, id);
      expect(fold(events.slice(0, length), ALL_SHOWN, this.service.url)).toEqual(messages);
    }
  }

  async send(id: string, content: string, more = {}): Promise<void> {
    expect((await this.client.post(`/v1/tasks/${id}/messages`, { content, ...more })).status).toBe(202);
  }

  async answer(id: string, task: TaskBody, body: object): Promise<void> {
    const given = { interactionId: task.pendingInteraction?.id, ...body };
    expect((await this.client.post(`/v1/tasks/${id}/interaction`, given)).status).toBe(202);
  }

  waits(id: string): Promise<TaskBody> {
    return reaches(this.client, id, 'awaiting_input');
  }
}
