// A model that moved the indentation of a text moved it in the whole text. What it did is read from the lines that it copied;
// then the lines that it wrote are moved back the same way. Whatever can be read in two ways is refused.

/** A text's indentation and the file's, for a line that both have. */
export type Pair = readonly [text: string, file: string];

/** Where the file has an indentation of the text; `null` when that cannot be told. */
type Reading = (indentation: string) => string | null;

export function indentationOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

/**
 * The indentations in the file of lines that a model wrote. `pairs` has those of the lines that it copied, in their order,
 * `unit` what a level of the file is. Null when they follow from no rule that holds for all pairs, or two rules differ.
 */
export function indented(pairs: Pair[], written: string[], unit: string | null): string[] | null {
  const [first, ...others] = pairs;
  if (first === undefined) return null;
  const found = readings(pairs, written, unit).map((reading) => written.map(reading));
  // The first line may have been copied from its first letter on. It then says nothing of the others, which are not all so.
  if (first[0] === '' && first[1] !== '' && others.some(([text]) => text !== '') && (written[0] ?? '') === '') {
    const rest = written.slice(1);
    for (const reading of readings(others, rest, unit)) {
      if (couldBe(reading, first[1])) found.push([first[1], ...rest.map(reading)].slice(0, written.length));
    }
  }
  const whole = found.filter((one): one is string[] => !one.includes(null));
  const [result] = whole;
  if (result === undefined || whole.some((one) => one.some((indentation, at) => indentation !== result[at])))
    return null;
  return result;
}

/** Whether an indentation of the file is that of some text: a line cannot stand to the left of the margin. */
function couldBe(reading: Reading, file: string): boolean {
  for (const one of [' ', '\t']) {
    for (let length = 0; length <= 8 * file.length; length++) if (reading(one.repeat(length)) === file) return true;
  }
  return false;
}

function readings(pairs: Pair[], written: string[], unit: string | null): Reading[] {
  const known = new Map<string, string>();
  for (const [text, file] of pairs) {
    if ((known.get(text) ?? file) !== file) return [];
    known.set(text, file);
  }
  // Two levels of the text are two of the file, in the same order.
  const all = [...known].sort(([a], [b]) => a.length - b.length);
  if (all.some(([, file], at) => at > 0 && file.length <= (all[at - 1]?.[1].length ?? 0))) return [];
  const unknown = written.filter((one) => !known.has(one));
  const found = [shifted(all, unknown, unit), scaled(all, unknown, unit)].filter((one) => one !== null);
  if (found.length === 0 && unknown.length === 0) found.push(() => null);
  return found.map((reading) => (indentation) => known.get(indentation) ?? likeFile(all, unit, reading(indentation)));
}

/** The same characters more, or fewer, before every line. */
function shifted(pairs: Pair[], unknown: string[], unit: string | null): Reading | null {
  const [first] = pairs;
  if (first === undefined) return null;
  const [text, file] = first;
  if (pairs.length === 1 && !isOneLevel(text, unknown, unit, 1)) return null;
  const [more, fewer] = [file.length - text.length, text.length - file.length];
  if (more >= 0) {
    const added = file.slice(0, more);
    return pairs.every((one) => one[1] === added + one[0]) ? (indentation) => added + indentation : null;
  }
  const left = text.slice(0, fewer);
  if (!pairs.every((one) => one[0] === left + one[1])) return null;
  return (indentation) => (indentation.startsWith(left) ? indentation.slice(fewer) : null);
}

/** Levels of another width, or of tabs for spaces: each line stands at a whole level, here and there. */
function scaled(pairs: Pair[], unknown: string[], unit: string | null): Reading | null {
  const textKind = kindOf(pairs.map(([text]) => text));
  const fileKind = kindOf(pairs.map(([, file]) => file));
  const widths = pairs.map(([text, file]) => [text.length, file.length] as const);
  // One pair tells the width of a level only when it is counted from the margin.
  const [from, to = [0, 0] as const] = widths;
  if (textKind === null || fileKind === null || from === undefined || from[0] === to[0]) return null;
  const slope = (to[1] - from[1]) / (to[0] - from[0]);
  const fileLevel = unit?.length ?? Math.abs(to[1] - from[1]);
  const textLevel = fileLevel / slope;
  const isLevel = (width: number, level: number) => Number.isInteger(width / level);
  if (slope <= 0 || (textLevel !== 1 && textKind === '\t') || (textLevel < 2 && textKind === ' ')) return null;
  const file = (text: number) => from[1] + (text - from[0]) * slope;
  const fits = ([text, width]: readonly [number, number]) =>
    file(text) === width && isLevel(text, textLevel) && isLevel(width, fileLevel);
  if (!widths.every(fits)) return null;
  if (pairs.length === 1 && !isOneLevel(pairs[0]?.[0] ?? '', unknown, unit, slope)) return null;
  return (indentation) => {
    const width = file(indentation.length);
    if (width < 0 || !isLevel(indentation.length, textLevel)) return null;
    return indentation === '' || kindOf([indentation]) === textKind ? fileKind.repeat(width) : null;
  };
}

/** Whether the smallest step from the one known indentation to another is a level of the file. */
function isOneLevel(known: string, unknown: string[], unit: string | null, slope: number): boolean {
  if (unknown.length === 0) return true;
  const steps = unknown.map((one) => Math.abs(one.length - known.length)).filter((step) => step > 0);
  return unit === null ? slope === 1 : Math.min(...steps) * slope === unit.length;
}

/** A file that is indented by tabs gets no spaces, and the other way about. */
function likeFile(pairs: Pair[], unit: string | null, indentation: string | null): string | null {
  const used = [...pairs.map(([, file]) => file), unit ?? ''].filter((one) => one !== '');
  const kind = kindOf(used);
  if (indentation === null || indentation === '' || used.length === 0 || kind === null) return indentation;
  return kindOf([indentation]) === kind ? indentation : null;
}

/** The one character that indentations consist of: a tab or a space; `null` when there are both. */
function kindOf(indentations: string[]): string | null {
  const all = indentations.join('');
  const [kind = ' '] = all;
  return all === kind.repeat(all.length) ? kind : null;
}

/** What a level of a file is: the step to the right that occurs most often; null when there is none. */
export function unitOf(lines: Iterable<string>): string | null {
  const counts = new Map<string, number>();
  let before = '';
  for (const line of lines) {
    if (line.trim() === '') continue;
    const indentation = indentationOf(line);
    const step = indentation.slice(before.length);
    // A single space is no level: it is before the stars of a comment.
    if (indentation.startsWith(before) && step !== '' && step !== ' ') counts.set(step, (counts.get(step) ?? 0) + 1);
    before = indentation;
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most?.[0] ?? null;
}
