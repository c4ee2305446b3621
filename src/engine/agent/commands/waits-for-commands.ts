import {
  isJsonObject,
  type ConversationMessage,
  type JsonValue,
  type ToolInvocation,
} from '../../models/conversation.js';
import { spelling } from '../tool-arguments.js';

/** From so many seconds on, who waits for a command is not in a hurry. */
const LONG = 5;

/**
 * Whether a step did nothing but wait, for long, for commands that go on: it comes as often as a build is silent, and what it waits for does change
 * by itself. Steps, the budget and the life of a command bound it.
 */
export function onlyWaits({ invocations }: Pick<ConversationMessage, 'invocations'>): boolean {
  return invocations.length > 0 && invocations.every((call) => secondsOf(call) >= LONG && isRunning(call));
}

/** What a call asked to wait at most; 0 for one that does something. */
function secondsOf({ name, input }: ToolInvocation): number {
  if (!isJsonObject(input)) return 0;
  const fields = new Map(Object.entries(input).map(([field, value]) => [spelling(field), value]));
  const number = (field: string, usual: JsonValue) => Number(fields.get(field) ?? usual);
  if (name === 'bash_output') return number('waitseconds', 0);
  const isEmpty = (fields.get('chars') ?? '') === '';
  return name === 'write_stdin' && isEmpty ? number('yieldtimems', LONG * 1000) / 1000 : 0;
}

function isRunning({ result }: ToolInvocation): boolean {
  return result?.status === 'success' && isJsonObject(result.output) && result.output['status'] === 'running';
}
