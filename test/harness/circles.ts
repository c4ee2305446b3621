// Steps of an agent as they are on record, and what the loop says after each: for the specs of repetition.
import type { ConversationMessage, JsonValue, ToolResult } from '../../src/engine/models/conversation.js';
import { circling, type Circling, forget, mayCircle } from '../../src/engine/agent/repetition.js';
import { assistant, call, user } from './agent.js';

/** A step of one call: its name, its input, and what came of it. */
export type Made = [name: string, input: JsonValue, result: ToolResult];

export const ran = (command: string, stdout = '', exitCode = 0): Made => [
  'bash',
  { command },
  {
    status: 'success',
    output: { exitCode, stdout, stderr: '', truncated: false },
    // It differs from time to time.
    forModel: { ms: Math.round(Math.random() * 10_000) },
  },
];
export const read = (path: string, text: string, more: Record<string, JsonValue> = {}): Made => [
  'read',
  { path, ...more },
  { status: 'success', output: text },
];
export const edited = (path: string, oldText: string, newText: string): Made => [
  'edit',
  { path, oldText, newText },
  { status: 'success', output: { path, replacements: 1, line: 3 } },
];
export const written = (path: string, content: string): Made => [
  'write',
  { path, content },
  { status: 'success', output: { path, bytes: content.length } },
];
export const failed = (name: string, input: JsonValue, error = 'No.'): Made => [
  name,
  input,
  { status: 'error', error },
];

let ids = 0;
export const message = (...made: Made[]) =>
  assistant('', ...made.map(([name, input, result]) => call(`c${++ids}`, name, input, result)));

/** What is said after each step. `folders`: what the folders of the task are like behind a step, for when the loop looks. */
export function after(steps: ConversationMessage[], folders = (_step: number) => 'as before'): (Circling | null)[] {
  const conversation = [user('Go.')];
  return steps.map((step, index) => {
    conversation.push(step);
    const result = step.invocations.at(-1)?.result;
    if (result != null && result.status !== 'denied' && mayCircle(conversation)) {
      result.forModel = { ...result.forModel, workdir: folders(index) };
      forget(step);
    }
    return circling(conversation);
  });
}
/** The steps, from 1, after which the model is told, and the one that ends the turn. */
export function moments(steps: ConversationMessage[], folders?: (step: number) => string) {
  const said = after(steps, folders);
  const end = said.findIndex((one) => one?.over != null);
  const hints = said.flatMap((one, index) => (one === null ? [] : [index + 1]));
  return { hints: hints.filter((at) => end < 0 || at <= end + 1), end: end < 0 ? null : end + 1 };
}
export const times = (count: number, make: (n: number) => Made | Made[]) =>
  Array.from({ length: count }, (_, n) => {
    const made = make(n);
    return message(...(Array.isArray(made[0]) ? (made as Made[]) : [made as Made]));
  });
