// The extension `io.modelcontextprotocol/tasks`: a task of MCP is one turn of ours, which a later turn does not change.
import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../../engine/models/conversation.js';
import { type Call, jsonOf } from './call.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { InnerAnswer } from './inner-request.js';
import { invalidParams, RpcError } from './message.js';
import { answerFrom, formOf, type Pending } from './questions.js';
import { bytesOf, MOST, shortened, succeeded } from './results.js';

export const TASKS = 'io.modelcontextprotocol/tasks';
const POLL_MS = 2_000;
const ENDS = ['completed', 'failed', 'cancelled'];
/** Pages of a hundred messages that are gone through for the end of a turn. */
const PAGES = 20;

interface Task extends JsonObject {
  id: string;
  status: string;
  statusReason: { message: string } | null;
  pendingInteraction: Pending | null;
  result: { text: string | null } | null;
  createdAt: string;
  updatedAt: string;
}
interface Message {
  role: string;
  turn: number | null;
  readAt: string | null;
  parts: { type: string; text?: string }[];
}
interface Ended {
  createdAt: string;
  data: { status: string; statusReason: Task['statusReason'] };
}

/** Whether the client says that it knows the extension. */
export function knowsTasks({ message: { capabilities } }: Call): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS]);
}

/** What `create_task` answers: the first turn of the task. */
export function begun({ task }: { task?: unknown }): object {
  return { resultType: 'task', ...shown(task as Task, 1) };
}

/** `tasks/get`. Throws {@link RpcError}. */
export async function getTurn(call: Call): Promise<object> {
  const { id, turn } = named(call);
  return shown(await taskOfTurn(call, id, turn), turn);
}

/** `tasks/cancel`: of a turn that has ended nothing is left to cancel, also when it has ended since it was looked at. Throws {@link RpcError}. */
export async function cancelTurn(call: Call): Promise<object> {
  const { id, turn } = named(call);
  const { status } = await taskOfTurn(call, id, turn);
  if (ENDS.includes(status)) return {};
  const answer = await call.send({ ...written(`/v1/tasks/${id}/cancel`), turn });
  if (answer.status !== 409) jsonOfDone(answer);
  return {};
}

/** `tasks/update`: answers what the turn asks, where the answer is among those that came. Throws {@link RpcError}. */
export async function updateTurn(call: Call): Promise<object> {
  const { id, turn } = named(call);
  const { pendingInteraction: pending } = await taskOfTurn(call, id, turn);
  const responses = call.message.params['inputResponses'];
  const response = pending !== null && isJsonObject(responses) ? responses[pending.id] : undefined;
  const answer = pending === null ? null : answerFrom(pending, response);
  if (pending !== null && answer !== null) {
    const bytes = Buffer.from(JSON.stringify({ interactionId: pending.id, ...answer }));
    const body = { type: 'application/json', bytes };
    jsonOfDone(await call.send({ ...written(`/v1/tasks/${id}/interaction`), body }));
  }
  return {};
}

function named(call: Call): { id: string; turn: number } {
  if (!knowsTasks(call)) {
    const requiredCapabilities = { extensions: { [TASKS]: {} } };
    throw new RpcError(-32021, `The client does not declare ${TASKS}.`, 400, { requiredCapabilities });
  }
  const { taskId } = call.message.params;
  const [, id, turn] = (typeof taskId === 'string' && /^([\w-]{1,100})\.([1-9]\d{0,8})$/.exec(taskId)) || [];
  if (id === undefined) throw invalidParams('There is no such task.');
  return { id, turn: Number(turn) };
}

/** The task as it is while the turn goes on, and as the turn has ended. */
async function taskOfTurn(call: Call, id: string, turn: number): Promise<Task> {
  const path = `/v1/tasks/${id}`;
  const { task } = (await read(call, path)) as unknown as { task: Task };
  const { messages } = await messagesAt(call, `${path}/messages?order=desc&limit=100`);
  const last = Math.max(0, ...messages.map((one) => one.turn ?? 0));
  if (turn > Math.max(last, 1)) throw invalidParams('There is no such task.');
  const isLastEnd = turn === last && ENDS.includes(task.status);
  // Several messages of a user have been read: it may be the number of two, of which the first was cancelled before it began.
  const mayBeTwo = turn === 1 && messages.filter((one) => one.role === 'user' && one.turn === 1).length > 1;
  if (isLastEnd && !mayBeTwo) return task;
  const messagesOfTurn = await messagesOf(call, path, turn);
  const { begun = '', of } = messagesOfTurn;
  const end = await endOf(call, path, messagesOfTurn, turn);
  if (end !== undefined && end.createdAt < begun) return asEnded(task, end, []);
  return isLastEnd || (last <= turn && end === undefined) ? task : asEnded(task, end, of);
}

/** The messages of a turn, when it began, and when the next one did: undefined for the first and the last. */
interface Turn {
  of: Message[];
  begun: string | undefined;
  next: string | undefined;
}

/** A message stands where it was said, so the first of a turn may stand in the one before. */
async function messagesOf(call: Call, path: string, turn: number): Promise<Turn> {
  const all: Message[] = [];
  const isLater = (one: Message) => (one.turn ?? 0) > turn;
  let cursor: string | null = '';
  for (let page = 0; page < PAGES && cursor !== null; page += 1) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const found = await messagesAt(call, `${path}/messages?limit=100${query}`);
    all.push(...found.messages);
    cursor = found.messages.some((one) => one.role === 'assistant' && isLater(one)) ? null : found.nextCursor;
  }
  const of = all.filter((one) => one.turn === turn);
  const [begun] = of.flatMap((one) => one.readAt ?? []).sort();
  const [next] = all.flatMap((one) => (isLater(one) ? (one.readAt ?? []) : [])).sort();
  return { of, begun, next };
}

/** How a turn has ended; undefined for one that goes on, that a message has waited for, or that one has cut short. */
async function endOf(
  call: Call,
  path: string,
  { begun = '', next = '~' }: Turn,
  turn: number,
): Promise<Ended | undefined> {
  // Nothing has ended before the first one, which may be cancelled before it begins.
  const isFirst = turn === 1;
  const types = ENDS.map((one) => `task.${one}`).join();
  let end: Ended | undefined;
  let after = '0';
  for (let page = 0; page < PAGES; page += 1) {
    const found = await read(call, `${path}/events?types=${types}&after=${after}`);
    const { events, position, caughtUp } = found as unknown as { events: Ended[]; position: string; caughtUp: boolean };
    const before = events.filter(({ createdAt }) => createdAt <= next);
    end = isFirst ? before[0] : (before.findLast(({ createdAt }) => createdAt >= begun) ?? end);
    if (caughtUp || (isFirst && end !== undefined) || events.some(({ createdAt }) => createdAt > next)) break;
    after = position;
  }
  return end;
}

async function messagesAt(call: Call, path: string): Promise<{ messages: Message[]; nextCursor: string | null }> {
  return (await read(call, path)) as unknown as { messages: Message[]; nextCursor: string | null };
}

/** A turn without an end of its own is completed as it stands. */
function asEnded(task: Task, end: Ended | undefined, of: Message[]): Task {
  const { status, statusReason } = end?.data ?? { status: 'completed', statusReason: null };
  const texts = of.filter(({ role }) => role === 'assistant').map(({ parts }) => parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('')); // prettier-ignore
  const text = texts.findLast((one) => one !== '') ?? null;
  const result = status === 'completed' ? { text, fileIds: [], output: null } : null;
  return { ...task, status, statusReason, pendingInteraction: null, result };
}

function shown(task: Task, turn: number): object {
  const { id, status, statusReason, createdAt, updatedAt: lastUpdatedAt, pendingInteraction: pending } = task;
  const base = { taskId: `${id}.${turn}`, createdAt, lastUpdatedAt, ttlMs: null, pollIntervalMs: POLL_MS };
  const message = statusReason === null ? {} : { statusMessage: statusReason.message };
  if (pending !== null) {
    return { ...base, ...message, status: 'input_required', inputRequests: { [pending.id]: formOf(pending) } };
  }
  if (!ENDS.includes(status)) return { ...base, ...message, status: 'working' };
  if (status === 'cancelled') return { ...base, ...message, status };
  const json = bytesOf({ task }) > MOST ? shortened({ task }, `GET /v1/tasks/${id}`) : { task };
  const failure = status === 'failed' ? { isError: true } : {};
  return {
    ...base,
    ...message,
    status: 'completed',
    result: { resultType: 'complete', ...succeeded(json), ...failure },
  };
}

const read = async (call: Call, path: string) => jsonOfDone(await call.send({ method: 'GET', path }));

const written = (path: string) => ({ method: 'POST', path, headers: { 'idempotency-key': randomUUID() } });

function jsonOfDone(answer: InnerAnswer): JsonObject {
  const json = jsonOf(answer);
  if (answer.status >= 400) throw invalidParams((json['error'] as { message: string }).message, json);
  return json;
}
