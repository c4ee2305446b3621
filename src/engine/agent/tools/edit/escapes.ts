// Models escape a text once too often: `\n` for an end of line, `\"` for a quote, as JSON has them.

const MEANT = new Map([['n', '\n'], ['r', '\r'], ['t', '\t'], ['"', '"'], ["'", "'"], ['`', '`'], ['\\', '\\']]); // prettier-ignore
const ESCAPE = /\\([\s\S])/g;

/** An edit whose texts were escaped, as they were meant. */
export interface Unescaped {
  oldText: string;
  newText: string;
}

/**
 * Null when the old text has no escapes, or the two texts do not tell alike which of their characters are escaped: some may be meant
 * as they stand. That the file has the old text without escapes is for the caller to find.
 */
export function withoutEscapes(oldText: string, newText: string): Unescaped | null {
  const kinds = kindsIn(oldText);
  if (kinds.size === 0 || [...kindsIn(newText)].some((kind) => !kinds.has(kind))) return null;
  const isPlain = (text: string) => {
    const rest = text.replace(ESCAPE, '');
    return [...kinds].every((kind) => !rest.includes(MEANT.get(kind) ?? ''));
  };
  if (!isPlain(oldText) || !isPlain(newText)) return null;
  const [old, written] = [unescaped(oldText), unescaped(newText)];
  return breaksString(old, written) ? null : { oldText: old, newText: written };
}

function kindsIn(text: string): Set<string> {
  const kinds = new Set<string>();
  for (const [, kind = ''] of text.matchAll(ESCAPE)) if (MEANT.has(kind)) kinds.add(kind);
  return kinds;
}

function unescaped(text: string): string {
  return text.replace(ESCAPE, (escape, kind: string) => MEANT.get(kind) ?? escape);
}

/** Whether a new line has a quote without its other: the escape of a string, which is meant, may have become an end of line. */
function breaksString(oldText: string, newText: string): boolean {
  const known = new Set(oldText.split('\n'));
  const added = newText.split('\n').filter((line) => !known.has(line));
  return added.some((line) => [/"/g, /'/g, /`/g].some((quote) => (line.match(quote) ?? []).length % 2 === 1));
}
