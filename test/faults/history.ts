// What is on record, read twice: from the tables by statements of our own, and from the API as a client sees it.
import { transparencyOf } from '../../src/platform/config/config-file.js';
import type { TestDatabase } from '../harness/database.js';
import { fold, readEvents } from '../harness/events.js';
import type { MessageBody, TaskBody } from '../harness/tasks.js';
import type { World } from './world.js';

export interface TaskRow {
  id: string;
  title: string;
  status: string;
  /** Statuses of its runs. */
  runs: string[];
}

export interface MessageRow {
  id: string;
  taskId: string;
  seq: number;
  readSeq: number | null;
  role: string;
  status: string;
  calls: CallRow[];
}

export interface CallRow {
  toolCallId: string;
  name: string;
  input: unknown;
  state: string;
  output: unknown;
  error: string | null;
}

export interface Shown {
  status: string;
  messages: MessageBody[];
}

export interface Told {
  /** The numbers of the events. */
  numbers: number[];
  /** What they amount to. */
  messages: MessageBody[];
}

export interface History {
  tasks: TaskRow[];
  /** By task, in the order of `seq`. */
  messages: Map<string, MessageRow[]>;
  /** What the API answers, by task. */
  shown: Map<string, Shown>;
  /** What the events say, by task. */
  told: Map<string, Told>;
}

const TASKS = `
SELECT t.id, t.title, t.status, array(SELECT r.status FROM runs r WHERE r.task_id = t.id ORDER BY r.created_at) AS runs
FROM tasks t WHERE t.title LIKE $1`;

const MESSAGES = `
SELECT m.id, m.task_id AS "taskId", m.seq, m.read_seq AS "readSeq", m.role, m.status,
  coalesce(json_agg(json_build_object('toolCallId', v.tool_call_id, 'name', v.name, 'input', v.input, 'state', v.state,
    'output', v.output, 'error', v.error) ORDER BY v.idx) FILTER (WHERE v.message_id IS NOT NULL), '[]') AS calls
FROM messages m JOIN tasks t ON t.id = m.task_id LEFT JOIN tool_invocations v ON v.message_id = m.id
WHERE t.title LIKE $1 GROUP BY m.id ORDER BY m.task_id, m.seq`;

/** @param name what the keys of these orders begin with. */
export async function readHistory(db: Pick<TestDatabase, 'query'>, world: World, name: string): Promise<History> {
  const tasks = await db.query<TaskRow>(TASKS, [`${name}-%`]);
  const messages = new Map<string, MessageRow[]>();
  for (const row of await db.query<MessageRow>(MESSAGES, [`${name}-%`])) {
    const others = messages.get(row.taskId);
    if (others === undefined) messages.set(row.taskId, [row]);
    else others.push(row);
  }
  const told = new Map<string, Told>();
  for (const { id } of tasks) told.set(id, await readTold(db, world.api.url, id));
  return { tasks, messages, shown: await readShown(world, new Set(tasks.map(({ id }) => id))), told };
}

/** The events of a task, and what they amount to under the policy of a service without configuration. */
export async function readTold(db: Pick<TestDatabase, 'query'>, origin: string, id: string): Promise<Told> {
  const events = await readEvents(db, id, 500);
  const messages = fold(events, transparencyOf({}), origin);
  // Of this realm, as what the API answers.
  return { numbers: events.map(({ seq }) => seq), messages: JSON.parse(JSON.stringify(messages)) as MessageBody[] };
}

async function readShown(world: World, ids: Set<string>): Promise<Map<string, Shown>> {
  const shown = new Map<string, Shown>();
  for await (const { id, status } of pages<TaskBody>(world, '/v1/tasks', 'tasks')) {
    if (ids.has(id)) shown.set(id, { status, messages: [] });
  }
  const left = shown.entries();
  const client = async () => {
    for (const [id, task] of left) {
      for await (const message of pages<MessageBody>(world, `/v1/tasks/${id}/messages`, 'messages'))
        task.messages.push(message);
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return shown;
}

async function* pages<T>(world: World, path: string, name: string): AsyncGenerator<T> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '?limit=50' : `?limit=50&cursor=${encodeURIComponent(cursor)}`;
    const headers = { Authorization: `Bearer ${world.secret}` };
    const response = await fetch(world.api.url + path + query, { headers });
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    // Not `json()`: under Jest its objects are of another realm, which a strict comparison tells apart.
    const body = JSON.parse(await response.text()) as Record<string, T[]> & { nextCursor: string | null };
    yield* body[name] ?? [];
    cursor = body.nextCursor;
  }
}
