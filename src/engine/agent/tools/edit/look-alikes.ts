// Characters that look alike and are written for each other: typographic quotes, dashes and spaces, and full-width forms.

const GROUPS: [string, RegExp][] = [
  ["'", /[\u2018-\u201b\u2032\u02bc]/g],
  ['"', /[\u201c-\u201f\u2033]/g],
  ['-', /[\u2010-\u2015\u2212]/g],
  [' ', /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g],
];
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const PLAIN = /^[\0-\x7f]*$/;

/** The text with the plain character for each that looks like one. Its length stays. */
export function plain(text: string): string {
  if (PLAIN.test(text)) return text;
  for (const [by, alike] of GROUPS) text = text.replace(alike, by);
  return text.replace(FULL_WIDTH, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0));
}

/** What a file has for each odd character of a text; `null` where there are several. */
export type Characters = Map<string, string | null>;

/**
 * Notes what stands in the file for the odd characters of a text that looks the same. Both have one length. A plain character
 * that a model writes is meant: the apostrophe of a comment is typographic, and those of the code below it are not.
 */
export function compare(characters: Characters, text: string, file: string): void {
  if (PLAIN.test(text)) return;
  for (let at = 0; at < text.length; at++) {
    const [one, other] = [text.charAt(at), file.charAt(at)];
    if (PLAIN.test(one)) continue;
    const known = characters.get(one);
    characters.set(one, known === undefined || known === other ? other : null);
  }
}

/** The text in the characters of the file; `null` when one of them has no single counterpart. */
export function inCharacters(characters: Characters, text: string): string | null {
  let result = '';
  for (const one of text) {
    const by = characters.get(one);
    if (by === null) return null;
    result += by ?? one;
  }
  return result;
}
