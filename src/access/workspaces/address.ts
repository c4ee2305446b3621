import { isName } from '../../platform/text/names.js';

/** The longest address of a person, in characters. */
export const LONGEST_ADDRESS = 320;

/** Whether a text can be the address of a person: it is shown in lists, and is no more than looked at. */
export function isAddress(text: string): boolean {
  return text.length <= LONGEST_ADDRESS && /^[^\s@]+@[^\s@]+$/.test(text) && isName(text);
}
