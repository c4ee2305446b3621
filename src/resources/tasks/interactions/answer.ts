import { ApiError } from '../../../platform/http/api-error.js';
import type { AnswerDto } from '../task.dto.js';
import type { QuestionOption } from './interaction.entity.js';
import type { PendingInteraction } from './interaction.sql.js';

/** What the `ask` call gets as its output, beside files. */
export interface Answer {
  content: string | null;
  options: { id: string; label: string }[];
}

export interface Decision {
  decision: 'approve' | 'deny';
  reason: string | null;
  /** No more asking for that tool in this task. */
  remember: boolean;
}

/** 409: it is answered by now, or was never asked. */
export function notPending(): ApiError {
  return new ApiError('interaction_not_pending', 'The task does not wait for an answer to this interaction.');
}

/** Checks an answer against its question (reference §4). Throws 400 `invalid_field`. */
export function answerOf(question: PendingInteraction, input: AnswerDto): Answer {
  const { content = null, optionIds } = input;
  refuseFields(input, ['decision', 'reason', 'remember'], `only an approval takes it, and this is a ${question.type}`);
  if (question.type === 'question') {
    if (optionIds !== undefined)
      refuse('optionIds', 'a question is answered with content or attachments, not with optionIds');
    if (content === null && input.attachments === undefined) refuse('content', 'content or attachments is needed');
    return { content, options: [] };
  }
  if (content !== null && !question.allowText) refuse('content', 'this choice takes optionIds and no text');
  if (optionIds === undefined && content === null) refuse('optionIds', 'optionIds is needed');
  return { content, options: chosen(question, optionIds ?? []) };
}

/** Checks the answer to an approval (reference §4). Throws 400 `invalid_field`. */
export function decisionOf(input: AnswerDto): Decision {
  const { decision, reason = null, remember } = input;
  refuseFields(input, ['content', 'optionIds', 'attachments'], 'an approval is answered with decision');
  if (decision === undefined) return refuse('decision', 'an approval needs approve or deny');
  if (remember !== undefined && decision === 'deny') refuse('remember', 'only what is approved can be remembered');
  return { decision, reason, remember: remember !== undefined };
}

function chosen({ options, multiple }: PendingInteraction, ids: string[]): Answer['options'] {
  if (new Set(ids).size !== ids.length) refuse('optionIds', 'each option can be chosen once');
  if (ids.length > 1 && !multiple) refuse('optionIds', 'exactly one option can be chosen');
  return ids.map((id, index) => optionOf(options ?? [], id, index));
}

function optionOf(options: QuestionOption[], id: string, index: number): Answer['options'][number] {
  const option = options.find((candidate) => candidate.id === id);
  if (option !== undefined) return { id: option.id, label: option.label };
  const known = options.map((candidate) => candidate.id).join(', ');
  return refuse(`optionIds[${index}]`, `the options are ${known}`);
}

/** Fields of another type of interaction are never dropped silently. */
function refuseFields(input: AnswerDto, fields: (keyof AnswerDto)[], reason: string): void {
  const given = fields.find((field) => input[field] !== undefined);
  if (given !== undefined) refuse(given, reason);
}

function refuse(param: string, reason: string): never {
  throw new ApiError('invalid_field', `${param}: ${reason}.`, { param });
}
