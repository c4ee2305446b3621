// What names and titles may hold: one rule for clients, the agent and operators (reference §1, docs/decisions/0030).
/* eslint no-misleading-character-class: off -- each of these characters is meant by itself */

/**
 * What is refused, as the inside of a character class: control characters, separators of lines and paragraphs, and what has no
 * shape of its own, Unicode's Default_Ignorable_Code_Point. Of these, the controls of direction let `invoice[U+202E]fdp.exe` look like
 * `invoiceexe.pdf`, zero-width characters make two equal names, and tag characters hide text that a model reads.
 */
const HIDDEN = [
  String.raw`\p{Cc}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0`,
  String.raw`\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}`,
].join('');
/**
 * What has no shape either, but is needed to write: Persian and the scripts of India have the joiners U+200C and U+200D, emoji have
 * U+200D and variation selectors, names in Japanese have the others. They neither turn nor hide anything beside them.
 */
const JOINING = String.raw`\u200c\u200d\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}`;

const WORD = `[^\\s${HIDDEN}]`;
const WORDS = `[^\\s${HIDDEN}${JOINING}]${WORD}*(?:[^\\S${HIDDEN}]+${WORD}+)*`;
/** A name as it is sent, before it is trimmed: white space, line breaks too, may stand around it. For the document. */
export const NAME_PATTERN = `^\\s*${WORDS}\\s*$`;
/** A tag: as a name, without white space around it. */
export const TAG_PATTERN = `^${WORDS}$`;

const ANY_HIDDEN = new RegExp(`[${HIDDEN}]`, 'u');
const ALL_HIDDEN = new RegExp(`[${HIDDEN}]`, 'gu');
const BEGINS_SHOWN = new RegExp(`^[^\\s${HIDDEN}${JOINING}]`, 'u');
const JOINING_NOTHING = new RegExp(`^[${JOINING}]+`, 'u');

/** How a message ends that refuses a name. */
export const NAME_RULE = 'in one line, without control characters and hidden ones';

/** Whether a text holds nothing that is refused in names. */
export function isShown(text: string): boolean {
  return !ANY_HIDDEN.test(text);
}

/** Whether a text that was trimmed may be a name, whatever its length. */
export function isName(text: string): boolean {
  return BEGINS_SHOWN.test(text) && isShown(text);
}

/** A text of several lines as a person may see it in a terminal: without what is refused in names, but with its line breaks and tabs. */
export function printable(text: string): string {
  return text.replace(ALL_HIDDEN, (one) => (one === '\n' || one === '\t' ? one : ''));
}

/** A text without what is refused in names. */
export function shown(text: string): string {
  return text.replace(ALL_HIDDEN, '').replace(JOINING_NOTHING, '');
}
