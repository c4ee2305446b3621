import { ApiError } from '../http/api-error.js';
import type { AnswerDto } from './task.dto.js';
import type { InteractionRow, QuestionOption } from './task.row.js';

export type PendingInteraction = Pick<InteractionRow, 'id' | 'type' | 'options' | 'multiple' | 'allowText'>;

/** What the `ask` call gets as its output, beside files. */
export interface Answer {
  content: string | null;
  options: { id: string; label: string }[];
}

/** Checks an answer against its question (reference §4). Throws 400 `invalid_field`. */
export function answerOf(question: PendingInteraction, input: AnswerDto): Answer {
  const { content = null, optionIds } = input;
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

function refuse(param: string, reason: string): never {
  throw new ApiError('invalid_field', `${param}: ${reason}.`, { param });
}
