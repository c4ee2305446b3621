import { randomUUID } from 'node:crypto';
import { EXAMPLES } from '../../src/platform/http/openapi/openapi-texts.js';
import type { Client } from './client.js';
import { type Answer as ModelAnswer } from './model-server.js';
import { until } from './until.js';

/** The parts of the records that tests look at; the whole shape is asserted where it is the subject. */
export interface TaskBody {
  id: string;
  title: string;
  status: string;
  statusReason: { code: string; message: string; retryable: boolean } | null;
  pendingInteraction: {
    id: string;
    type: string;
    question: string;
    options: { id: string; label: string; description: string | null }[] | null;
    multiple: boolean;
    allowText: boolean;
    toolCall: { toolCallId: string; name: string; input: unknown } | null;
    createdAt: string;
    expiresAt: string;
  } | null;
  result: { text: string; fileIds: string[] } | null;
  usage: Record<string, number | null>;
  network: { hosts: string[]; refused: string[] } | null;
  messageCount: number;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

export interface MessageBody {
  id: string;
  role: string;
  status: string;
  turn: number | null;
  readAt: string | null;
  createdBy: { id: string; name: string } | null;
  parts: PartBody[];
}

export interface PartBody {
  type: string;
  text?: string;
  toolCallId?: string;
  name?: string;
  input?: unknown;
  status?: string;
  output?: unknown;
  data?: unknown;
  error?: string;
}

/** The content of the task in the examples of the document: a question, a command with its answer, a file. */
export const RUNBOOK = (EXAMPLES['CreateTask'] as { content: string }).content;

/** Content whose text tells the scripted model server what to answer, step by step (see `byMarkers`). */
export function script(...answers: (ModelAnswer & { times?: number })[]): string {
  return `SCRIPT ${JSON.stringify(answers)}`;
}

/** One tool call as an answer of the model. */
export function call(name: string, args: unknown): ModelAnswer {
  return { calls: [{ name, arguments: args }] };
}

export async function createTask(client: Client, body: Record<string, unknown>): Promise<TaskBody> {
  const answer = await client.post<{ task: TaskBody }>('/v1/tasks', body, {
    headers: { 'Idempotency-Key': randomUUID() },
  });
  expect(answer.status).toBe(201);
  return answer.body.task;
}

export async function readTask(client: Client, id: string): Promise<TaskBody> {
  const answer = await client.get<{ task: TaskBody }>(`/v1/tasks/${id}`);
  expect(answer.status).toBe(200);
  return answer.body.task;
}

/** Waits until the task has one of the statuses. */
export function reaches(client: Client, id: string, ...statuses: string[]): Promise<TaskBody> {
  const reached = async () => {
    const { status, body } = await client.get<{ task: TaskBody }>(`/v1/tasks/${id}`);
    // A service that has just begun, or has too much to do, asks its clients to come again.
    if (status === 503) return null;
    expect(status).toBe(200);
    return statuses.includes(body.task.status) ? body.task : null;
  };
  return until(`task to be ${statuses.join(' or ')}`, reached, { within: 150_000 });
}

/** How long an interaction waits for its answer, in seconds. */
export function patience({ createdAt, expiresAt }: NonNullable<TaskBody['pendingInteraction']>): number {
  return (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000;
}

/** Waits for a final status. */
export function finished(client: Client, id: string): Promise<TaskBody> {
  return reaches(client, id, 'completed', 'failed', 'cancelled');
}

/** Waits for a final status after work that takes many programs, such as git(1) on both sides of a push. */
export function finishedLater(client: Client, id: string): Promise<TaskBody> {
  const over = async () => {
    const task = await readTask(client, id);
    return task.finishedAt === null ? null : task;
  };
  return until('task to have ended', over, { within: 150_000 });
}

/** Creates a task and waits for its end. */
export async function runTask(client: Client, content: string, more: Record<string, unknown> = {}): Promise<TaskBody> {
  const { id } = await createTask(client, { content, ...more });
  return finished(client, id);
}

export async function readMessages(client: Client, id: string, query = ''): Promise<MessageBody[]> {
  const answer = await client.get<{ messages: MessageBody[] }>(`/v1/tasks/${id}/messages${query}`);
  expect(answer.status).toBe(200);
  return answer.body.messages;
}

/** The results of all tool calls, in the order of the calls. */
export async function readResults(client: Client, id: string): Promise<PartBody[]> {
  const messages = await readMessages(client, id);
  return messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));
}

/** Everything the assistant wrote as text, oldest first. */
export function texts(messages: MessageBody[]): string[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'assistant' ? parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])) : [],
  );
}
