// What the events of tasks amount to is what the API lists, under every policy (reference §17): for the end of a story, however it went.
import { fold, type Message, type TaskEvent } from '@millwright/sdk';
import type { Actor } from '../../src/access/auth/auth-context.js';
import { type Transparency, transparencyOf, transparencyWith } from '../../src/platform/config/config-file.js';
import type { Query } from '../../src/platform/database/sql.js';
import { eventView } from '../../src/resources/events/event.view.js';
import { type MessageRow, PAGE } from '../../src/resources/tasks/messages/message.sql.js';
import { messageView } from '../../src/resources/tasks/messages/message.view.js';
import type { Client } from './client.js';
import type { TestDatabase } from './database.js';
import { ALL_SHOWN, expectNumbered, readEvents } from './events.js';

const POLICIES: Transparency[] = [
  ALL_SHOWN,
  transparencyOf({}),
  transparencyWith(['text']),
  transparencyWith(['tool_activity', 'data']),
  transparencyWith([]),
];
const ORIGIN = 'http://told.test';

type Reads = Pick<TestDatabase, 'query'>;
interface TaskKey {
  id: string;
  workspaceId: string;
  userId: string;
}

/** Of each task in a database that nobody changes any more. */
export async function expectTold(db: Reads): Promise<void> {
  const tasks = await db.query<TaskKey & { last: number }>(
    'SELECT id, workspace_id AS "workspaceId", created_by AS "userId", last_event AS last FROM tasks ORDER BY id',
  );
  for (const { last, ...task } of tasks) {
    const events = await readEvents(db, task.id, 500);
    expectNumbered(events);
    expect({ task: task.id, events: events.length }).toEqual({ task: task.id, events: last });
    const rows = await messagesOf(db, task);
    for (const transparency of POLICIES) {
      const context = { transparency, origin: ORIGIN };
      const shown = events.flatMap((event) => eventView(event, context) ?? []) as TaskEvent[];
      const listed = rows.map((row) => messageView(row, context)).filter(({ parts }) => parts.length > 0);
      expect({ task: task.id, messages: fold(shown) }).toEqual({ task: task.id, messages: listed });
    }
  }
}

/** All rows that the list of messages goes through, with the statement of the API. */
async function messagesOf(db: Reads, { id: taskId, workspaceId, userId }: TaskKey): Promise<MessageRow[]> {
  const auth = { workspaceId, userId, seesEverything: true } as Actor;
  const all: MessageRow[] = [];
  for (;;) {
    const page = PAGE.asc.further({ auth, taskId, after: null, seq: all.at(-1)?.seq ?? null, limit: 100 });
    const [found] = await run(db, page);
    const rows = (found?.messages ?? []).flatMap((row) => row ?? []);
    all.push(...rows);
    if (rows.length === 0) return all;
  }
}

async function run<Row>(db: Reads, query: Query<Row>): Promise<Row[]> {
  return query.rowsOf({ rows: await db.query(query.text, query.values) });
}

/** Of these tasks, as a client gets them from a service that is there; nothing may move. */
export async function expectToldTo(client: Client, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    const events: TaskEvent[] = [];
    for (let position = '0', more = true; more;) {
      const path = `/v1/tasks/${id}/events?after=${position}`;
      const { body } = await client.get<{ events: TaskEvent[]; position: string; caughtUp: boolean }>(path);
      events.push(...body.events);
      [position, more] = [body.position, !body.caughtUp];
    }
    const messages: Message[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `/v1/tasks/${id}/messages?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { body } = await client.get<{ messages: Message[]; nextCursor: string | null }>(path);
      messages.push(...body.messages);
      cursor = body.nextCursor;
    }
    expect(events.length).toBeGreaterThan(0);
    expect({ task: id, messages: fold(events) }).toEqual({ task: id, messages });
  }
}
