// What is printed for people.

/* eslint no-misleading-character-class: off -- each of these characters is meant by itself */

/**
 * What steers a terminal, or has no shape of its own: control characters but the line break and the tab, controls of direction (U+202E lets
 * `invoice[U+202E]fdp.exe` look like `invoiceexe.pdf`), zero-width, tag and other format characters. Joiners and variation selectors stay,
 * which Persian, Hindi and emoji are written with. The service refuses the same in names (docs/reference.md, section 1).
 */
const HIDDEN = new RegExp(
  [
    String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0`,
    String.raw`\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]`,
  ].join(''),
  'gu',
);

/** Text of somebody else as a person may see it. What programs read (`--json`, a pipe) stays as it is. */
export const plain = (text: string): string => text.replace(HIDDEN, '');

/** One line of a value. */
export function short(value: unknown, characters = 100): string {
  const line = plain(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ');
  return line.length > characters ? `${line.slice(0, characters)}…` : line;
}

/** Less than what stands around it, where that can be seen (https://no-color.org). */
export function faint(text: string): string {
  return process.stderr.isTTY && !process.env['NO_COLOR'] ? `\x1b[2m${text}\x1b[22m` : text;
}
