// What a task asks, as a form that the client shows its user, and what the user said, as the answer of the route.
import { isJsonObject } from '../../engine/models/conversation.js';
import { type Call, jsonOf } from './call.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { notPending } from '../../resources/tasks/interactions/answer.js';
import { failed, type ToolResult } from './results.js';
import { invalidField, pathOf } from './tool-request.js';

/** The parts of a pending interaction that a form is made of. */
export interface Pending {
  id: string;
  type: 'question' | 'choice' | 'approval';
  question: string;
  options: { id: string; label: string }[] | null;
  multiple: boolean;
  allowText: boolean;
}

const TEXT = { type: 'string' };

/** The request for an answer; the client sends it back under the id of the interaction. */
export function formOf(pending: Pending): object {
  const { properties, required } = fieldsOf(pending);
  const requestedSchema = { type: 'object', properties, required };
  return { method: 'elicitation/create', params: { mode: 'form', message: pending.question, requestedSchema } };
}

function fieldsOf({ type, options, multiple, allowText }: Pending): { properties: object; required: string[] } {
  if (type === 'approval') {
    return {
      properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: TEXT },
      required: ['decision'],
    };
  }
  if (type === 'question') return { properties: { answer: TEXT }, required: ['answer'] };
  const choices = (options ?? []).map(({ id, label }) => ({ const: id, title: label }));
  const chosen = multiple
    ? { options: { type: 'array', items: { anyOf: choices } } }
    : { option: { type: 'string', oneOf: choices } };
  const properties = { ...chosen, ...(allowText && { answer: TEXT }) };
  return { properties, required: allowText ? [] : Object.keys(chosen) };
}

/** What the route takes for what the user said; null where that is no answer. Who declines an approval denies it. */
export function answerFrom({ type }: Pending, response: unknown): JsonObject | null {
  if (!isJsonObject(response)) return null;
  if (response['action'] === 'decline' && type === 'approval') return { decision: 'deny' };
  if (response['action'] !== 'accept') return null;
  const { decision, reason, option, options, answer } = isJsonObject(response['content']) ? response['content'] : {};
  if (type === 'approval') return { decision, ...(reason ? { reason } : {}) };
  const optionIds = option === undefined ? options : [option];
  return { ...(optionIds === undefined ? {} : { optionIds }), ...(answer ? { content: answer } : {}) };
}

/** Whether a call of `answer_task` has no answer in it. */
export const isUnanswered = ({ content, optionIds, decision }: JsonObject): boolean =>
  [content, optionIds, decision].every((one) => one === undefined || one === null);

/**
 * What the user answers: fields for the route; or the result that lets the client ask. Throws 400 where the client cannot.
 * @param path of the task's route, as declared.
 */
export async function asked(
  call: Call,
  path: string,
  args: JsonObject,
): Promise<{ answer: JsonObject } | { result: object }> {
  const { capabilities, params } = call.message;
  const able = capabilities['elicitation'];
  if (!isJsonObject(able) || ('url' in able && !('form' in able))) {
    throw invalidField('content', 'or optionIds or decision is expected: this client cannot ask its user');
  }
  const read = await call.send({ method: 'GET', path: pathOf(path, args) });
  if (read.status >= 400) return { result: failed(jsonOf(read)) };
  const { pendingInteraction: pending } = jsonOf(read)['task'] as { pendingInteraction: Pending | null };
  const { interactionId } = args;
  if (pending === null || pending.id !== interactionId) throw notPending();
  const responses = params['inputResponses'];
  const response = isJsonObject(responses) ? responses[pending.id] : undefined;
  if (response === undefined) {
    return { result: { resultType: 'input_required', inputRequests: { [pending.id]: formOf(pending) } } };
  }
  const answer = answerFrom(pending, response);
  return answer === null ? { result: NOT_ANSWERED } : { answer };
}

const NOT_ANSWERED: ToolResult = {
  content: [{ type: 'text', text: 'The user has not answered: nothing was sent, and the task still waits.' }],
  isError: true,
};
