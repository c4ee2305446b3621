// Judges a history by what was ordered. Knows nothing of the service's code and reads nothing by itself.
import { isDeepStrictEqual } from 'node:util';
import type { MessageBody } from '../harness/tasks.js';
import type { CallRow, History, MessageRow, TaskRow, Told } from './history.js';
import type { ExpectedCall, Order } from './orders.js';

/** `wrong`: on record as something that was not ordered, or the two readings differ. */
export type Fault = 'lost' | 'duplicate' | 'missing' | 'out of order' | 'wrong';

export interface Violation {
  fault: Fault;
  key: string;
  what: string;
}

type Say = (fault: Fault, what: string) => void;

/** Every way in which the history is not the one that the accepted orders must have; empty when all is well. */
export function violations(orders: Order[], history: History): Violation[] {
  const found: Violation[] = [];
  const tasks = new Map<string, TaskRow>();
  for (const task of history.tasks) {
    const key = task.title;
    if (tasks.has(key)) found.push({ fault: 'duplicate', key, what: 'two tasks of one key' });
    tasks.set(key, task);
  }
  for (const order of orders) {
    const { key } = order;
    const say: Say = (fault, what) => found.push({ fault, key, what });
    const task = tasks.get(key);
    if (task === undefined) say('lost', 'accepted, and not on record');
    else judgeTask(order, task, history, say);
    tasks.delete(key);
  }
  for (const key of tasks.keys()) found.push({ fault: 'wrong', key, what: 'a task that nobody ordered' });
  return found;
}

function judgeTask(order: Order, task: TaskRow, history: History, say: Say): void {
  const messages = history.messages.get(task.id) ?? [];
  const shown = history.shown.get(task.id);
  if (task.status !== 'completed') say('lost', `it is ${task.status}`);
  judgeRuns(task.runs, say);
  judgeMessages(order, messages, say);
  judgeSteps(
    order.calls,
    messages.flatMap(({ calls }) => calls),
    say,
  );
  if (shown === undefined) return say('lost', 'the API does not show it');
  if (shown.status !== task.status) say('wrong', `the API shows it as ${shown.status}, on record it is ${task.status}`);
  const ids = messages.map(({ id }) => id);
  if (
    !isDeepStrictEqual(
      shown.messages.map(({ id }) => id),
      ids,
    )
  )
    say('wrong', 'the API shows other messages');
  judgeShown(order.calls, shown.messages, say);
  judgeTold(history.told.get(task.id), shown.messages, say);
}

function judgeRuns(runs: string[], say: Say): void {
  const open = runs.filter((status) => status === 'queued' || status === 'running').length;
  if (open > 1) say('duplicate', `${open} runs that are not over`);
  else if (open === 1) say('lost', 'its run is not over');
  if (runs.length !== 1) say('wrong', `${runs.length} runs`);
}

/** One message of the user, one for each step, the last of them without a call: all in the order of their places. */
function judgeMessages(order: Order, messages: MessageRow[], say: Say): void {
  messages.forEach(({ seq, readSeq, status, role }, index) => {
    const before = messages[index - 1];
    if (seq <= (before?.seq ?? 0)) say('duplicate', `place ${seq} twice`);
    if (readSeq === null || readSeq <= (before?.readSeq ?? 0))
      say('out of order', `place ${seq} is read as ${readSeq}`);
    if (status !== 'complete') say('missing', `message ${seq} is ${status}`);
    if (role !== (index === 0 ? 'user' : 'assistant')) say('wrong', `message ${seq} is the ${role}'s`);
  });
  // One counter gives the places in the list and in the model's reading: together they have no gap.
  const places = new Set(messages.flatMap(({ seq, readSeq }) => [seq, readSeq ?? seq]));
  const last = Math.max(0, ...places);
  if (places.size !== last) say('missing', `${last - places.size} of ${last} places`);
  const expected = order.calls.length + 2;
  if (messages.length < expected) say('missing', `${messages.length} messages instead of ${expected}`);
  if (messages.length > expected) say('duplicate', `${messages.length} messages instead of ${expected}`);
  const answers = messages.filter(({ role, calls }) => role === 'assistant' && calls.length === 0).length;
  if (answers !== 1) say(answers === 0 ? 'missing' : 'duplicate', `${answers} answers`);
  if ((messages.at(-1)?.calls.length ?? 0) > 0) say('out of order', 'it does not end with the answer');
}

/** Exactly the calls that were ordered, each once, in that order, each with its result. */
function judgeSteps(expected: ExpectedCall[], calls: CallRow[], say: Say): void {
  judgeSequence(expected, calls, 'on record', say);
  calls.forEach((call, index) => {
    const { state, error } = call;
    if (state === 'running') return say('missing', `call ${index + 1} has no result`);
    const interrupted = expected[index]?.mayBeInterrupted === true && /may have run partly/.test(error ?? '');
    if (state !== 'success' && !interrupted) say('wrong', `call ${index + 1} is ${state}: ${error}`);
  });
  judgeEffects(calls, say);
}

function judgeSequence(expected: ExpectedCall[], calls: { name: string; input: unknown }[], where: string, say: Say) {
  const steps = calls.map(({ name, input }) =>
    expected.findIndex((one) => one.name === name && isDeepStrictEqual(one.input, input)),
  );
  const seen = new Set<number>();
  steps.forEach((step, index) => {
    if (step < 0) return say('wrong', `${where}: call ${index + 1} was not ordered`);
    if (seen.has(step)) say('duplicate', `${where}: step ${step + 1} twice`);
    else if (step < Math.max(...seen)) say('out of order', `${where}: step ${step + 1} after a later one`);
    seen.add(step);
  });
  const missing = expected.flatMap((_, step) => (seen.has(step) ? [] : [step + 1]));
  if (missing.length > 0) say('missing', `${where}: step ${missing.join(', ')}`);
}

/** A command that is on record as done has run once; one that was interrupted at most once. `cat log` says which did. */
function judgeEffects(calls: CallRow[], say: Say): void {
  const last = calls.at(-1);
  if (last === undefined || !['bash', 'shell'].includes(last.name) || last.state !== 'success') return;
  const printed = typeof last.output === 'string' ? last.output : (last.output as { stdout?: string }).stdout;
  const lines = String(printed).trim().split('\n');
  calls.slice(0, -1).forEach(({ state }, index) => {
    const times = lines.filter((line) => line === String(index + 1)).length;
    if (times > 1) say('duplicate', `command ${index + 1} ran ${times} times`);
    if (times === 0 && state === 'success') say('missing', `command ${index + 1} did not run`);
  });
}

/** A client that follows the events has what the API lists (reference §17). */
function judgeTold(told: Told | undefined, shown: MessageBody[], say: Say): void {
  const { numbers = [], messages = [] } = told ?? {};
  const gap = numbers.findIndex((number, index) => number !== index + 1);
  if (gap >= 0) say('missing', `event ${gap + 1}: the next one is ${numbers[gap]}`);
  if (!isDeepStrictEqual(messages, shown)) say('wrong', 'the events amount to other messages than the API shows');
}

/** As a client sees it: every call is directly followed by its result. */
function judgeShown(expected: ExpectedCall[], messages: MessageBody[], say: Say): void {
  const parts = messages.flatMap((message) => message.parts);
  const calls = parts.filter(({ type }) => type === 'tool_call');
  const results = parts.filter(({ type }) => type === 'tool_result');
  judgeSequence(
    expected,
    calls.map(({ name = '', input }) => ({ name, input })),
    'in the API',
    say,
  );
  if (new Set(calls.map(({ toolCallId }) => toolCallId)).size < calls.length) say('duplicate', 'two calls of one id');
  if (results.length > calls.length) say('duplicate', `${results.length} results of ${calls.length} calls`);
  parts.forEach((part, index) => {
    const next = parts[index + 1];
    if (part.type !== 'tool_call' || (next?.type === 'tool_result' && next.toolCallId === part.toolCallId)) return;
    say('out of order', `in the API: a call is followed by ${next?.type ?? 'nothing'}`);
  });
}
