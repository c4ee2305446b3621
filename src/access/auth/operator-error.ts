import { isName, NAME_RULE } from '../../platform/text/names.js';

/** What an operator asked for and cannot have; the message says what to do instead. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
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
