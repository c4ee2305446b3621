// How CommonMark's HTML blocks begin and end (https://spec.commonmark.org/0.31.2/#html-blocks).

/** `end`: what its last line has; null when it ends before an empty line. */
export interface HtmlBlock {
  kind: 'html';
  end: RegExp | null;
}

const NAMES =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|' +
  'figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|' +
  'optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
const ATTRIBUTE = String.raw`\s+[a-z_:][\w:.-]*(?:\s*=\s*(?:[^"'=<>\x60\x00-\x20]+|'[^']*'|"[^"]*"))?`;
/** How HTML blocks begin, and what their last line has; null for those that end before an empty line. */
const HTML: [RegExp, RegExp | null][] = [
  [/^<(script|pre|style|textarea)(\s|>|$)/i, /<\/(script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(String.raw`^</?(?:${NAMES})(?:\s|/?>|$)`, 'i'), null],
];
/** Any other tag that stands alone on its line. */
const TAG = new RegExp(String.raw`^<(?:[a-z][a-z0-9-]*(?:${ATTRIBUTE})*\s*/?|/[a-z][a-z0-9-]*\s*)>\s*$`, 'i');

/**
 * The HTML block that a line begins. Undefined: none. Null: one that ends with its line. `lazy`: the line would else go on with a
 * paragraph, which not every tag interrupts.
 */
export function htmlOf(rest: string, lazy: boolean): HtmlBlock | null | undefined {
  const known = HTML.find(([begin]) => begin.test(rest));
  if (known === undefined) return !lazy && TAG.test(rest) ? { kind: 'html', end: null } : undefined;
  const [, end] = known;
  return end?.test(rest) === true ? null : { kind: 'html', end };
}
