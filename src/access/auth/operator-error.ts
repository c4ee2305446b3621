import { ApiError, type ErrorCode } from '../../platform/http/api-error.js';
import { isName, NAME_RULE } from '../../platform/text/names.js';

/** What an operator asked for and cannot have; the message says what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/**
 * Resolves as `work`. A rule that requests follow too and that is broken is an {@link OperatorError}.
 * @param advice by the code of the refusal: what an operator does about it, as a further sentence.
 */
export async function forOperator<T>(work: Promise<T>, advice: Partial<Record<ErrorCode, string>> = {}): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const more = advice[error.code as ErrorCode];
    throw new OperatorError(more === undefined ? error.message : `${error.message} ${more}`, { cause: error });
  }
}

/**
 * A name as it is stored: without the white space around it. A name is shown in lists and answers, so it has no line breaks,
 * no sequences that a terminal would carry out, and nothing that makes it look like another. Throws {@link OperatorError}.
 * @param what `A user name`, the subject of the message.
 */
export function nameOf(text: string, what: string): string {
  const name = text.trim();
  if (name.length <= 200 && isName(name)) return name;
  throw new OperatorError(`${what} has 1 to 200 characters, ${NAME_RULE}.`);
}
