import type { Actor } from '../../../access/auth/auth-context.js';
import type { FilesService } from '../../files/files.service.js';
import { ApiError } from '../../../platform/http/api-error.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { reviewIn, reviewPart } from '../../../engine/models/review.js';
import type { AttachmentDto } from '../task.dto.js';
import type { ReviewCommentDto } from './review.dto.js';

interface UserInput {
  content?: string | undefined;
  review?: ReviewCommentDto[] | undefined;
  attachments?: AttachmentDto[] | undefined;
}

/**
 * What the fields together must be, and the scope that they need: checked before anything is looked up (reference §1).
 * Throws 400 when there is none of the `fields`, 403 without `files:write` for attachments.
 */
export function checkInput(
  auth: Actor,
  { content, review, attachments }: UserInput,
  fields = 'content or attachments',
): void {
  if (content === undefined && review === undefined && attachments === undefined) {
    throw new ApiError('invalid_field', `${fields} is needed.`, { param: 'content' });
  }
  checkAttachments(auth, { attachments });
}

/** 403 when attachments are sent without `files:write`. */
export function checkAttachments(auth: Actor, { attachments }: Pick<UserInput, 'attachments'>): void {
  if (attachments !== undefined) auth.require('files:write');
}

/** The parts of a person's message; its uploads become files of the task in the same transaction. */
export async function userParts(
  auth: Actor,
  tx: UnitOfWork,
  files: FilesService,
  taskId: string,
  input: UserInput,
): Promise<StoredPart[]> {
  const text: StoredPart[] = input.content === undefined ? [] : [{ type: 'text', text: input.content }];
  const review = (input.review ?? []).map(({ endLine, ...comment }) =>
    reviewPart({ ...comment, endLine: endLine ?? comment.line }),
  );
  return [...text, ...review, ...(await fileParts(auth, tx, files, taskId, input))];
}

/** Characters of what a person has written or quoted, as the statement of a send counts those that wait. */
export function charactersOf(parts: readonly StoredPart[]): number {
  const texts = parts.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    const comment = reviewIn(part);
    return comment === null ? [] : [comment.quote, comment.text];
  });
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Attachments as file parts. */
export async function fileParts(
  auth: Actor,
  tx: UnitOfWork,
  files: FilesService,
  taskId: string,
  { attachments }: UserInput,
): Promise<Extract<StoredPart, { type: 'file' }>[]> {
  if (attachments === undefined) return [];
  const ids = attachments.map(({ uploadId }) => uploadId);
  const rows = await files.claimUploads(tx, auth, taskId, ids);
  return rows.map(({ id, name, mediaType, path }) => ({
    type: 'file',
    fileId: id,
    name,
    mediaType,
    path: path ?? name,
  }));
}
