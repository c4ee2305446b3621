// What models do to a text when they copy it: what can still be told is applied, the rest is refused.
import type { Match } from '../../src/engine/agent/tools/edit/change.js';

/** A place of a file, and what is meant to stand there: lines without their ends. */
export interface Meant {
  lines: string[];
  from: number;
  old: string[];
  new: string[];
  unit: string;
}
/** What the model sends, and the file that it is for when that differs. Null: it cannot happen here. */
export type Mutation = (meant: Meant, dice: (below: number) => number) => { old: string; new: string; file?: string[]; expected?: string[]; end?: string } | null; // prettier-ignore

export const indentation = (line: string) => line.slice(0, line.length - line.trimStart().length);
export const text = (lines: string[]) => lines.join('\n');
const each = (meant: Meant, change: (line: string, at: number) => string) => ({
  old: text(meant.old.map(change)),
  new: text(meant.new.map(change)),
});
export const filled = (lines: string[]) => lines.filter((line) => line.trim() !== '');
const lineCount = (lines: string[], line: string) => lines.filter((one) => one.trim() === line.trim()).length;
export const common = (lines: string[]) => filled(lines).map(indentation).reduce((a, b) => (b.startsWith(a) ? a : a.startsWith(b) ? b : '')); // prettier-ignore

/** Where all indentation consists of whole levels: each level as another text. */
const relevelled =
  (by: string, less = 0): Mutation =>
  (meant) => {
    const { unit } = meant;
    const whole = filled([...meant.old, ...meant.new]).every((line) => indentation(line).replaceAll(unit, '') === '');
    if (!whole || by === unit || filled(meant.old).every((line) => indentation(line) === '')) return null;
    const least = Math.min(
      ...filled([...meant.old, ...meant.new]).map((line) => indentation(line).length / unit.length),
    );
    return each(meant, (line) => by.repeat(Math.max(0, indentation(line).length / unit.length - Math.min(less, least))) + line.trimStart()); // prettier-ignore
  };
/** A line of the file, and what is meant to come of it, in another way than the model sees it. */
const unseen =
  (by: (line: string) => string): Mutation =>
  (meant, dice) => {
    const at = dice(Math.max(1, meant.old.length - 1));
    const line = meant.old[at] ?? '';
    if (by(line) === line || lineCount(meant.old, line) > 1 || lineCount(meant.new, line) > 1) return null;
    const paired = meant.old.length === meant.new.length && !meant.new.some((one) => one.trim() === line.trim());
    const odd = (one: string, row: number) => (one.trim() === line.trim() || (paired && row === at) ? by(one) : one);
    const file = meant.lines.map((one, row) => (row === meant.from + at ? by(one) : one));
    return { ...each(meant, (one) => one), file, expected: meant.new.map(odd) };
  };
const quotes = (line: string) => line.split('"').reduce((all, part, at) => all + (at % 2 === 1 ? '“' : '”') + part).replaceAll("'", '’'); // prettier-ignore
const numbered = (lines: string[], from: number, mark = '\t') => text(lines.map((line, at) => `${String(from + at + 1).padStart(6)}${mark}${line}`)); // prettier-ignore

const json = (one: string) => JSON.stringify(one).slice(1, -1);
/** Both texts with escapes, where the old one has some. */
const escapedBy =
  (by: (text: string) => string): Mutation =>
  (meant) =>
    by(text(meant.old)) === text(meant.old) ? null : { old: by(text(meant.old)), new: by(text(meant.new)) };
/** Two or more line ends before and behind each text. */
const framed = (meant: Meant, dice: (below: number) => number, written: string) => {
  const [before, after] = ['\n'.repeat(2 + dice(2)), '\n'.repeat(2 + dice(2))];
  return { old: before + text(meant.old) + after, new: before + written + after };
};

export const APPLIED: Record<string, Mutation> = {
  'as it is': (meant) => each(meant, (line) => line),
  'LF for CRLF': (meant) => ({ ...each(meant, (line) => line), end: '\r\n' }),
  'CRLF for LF': (meant) => ({ old: meant.old.join('\r\n'), new: meant.new.join('\r\n') }),
  'no trailing space': (meant, dice) => (meant.old.length < 2 ? null : unseen((line) => `${line}  `)(meant, dice)),
  'trailing space': (meant) => each(meant, (line) => `${line} `),
  'plain quotes': unseen(quotes),
  'plain spaces and dashes': unseen((line) =>
    line.replace(/(\S) (\S)/, '$1\u00a0$2').replace(/(\w)-(\w)/, '$1\u2011$2'),
  ),
  'typographic quotes': (meant) => (/["']/.test(text(meant.old)) ? each(meant, quotes) : null),
  'numbers of read': (meant) => ({ old: numbered(meant.old, meant.from), new: numbered(meant.new, meant.from) }),
  'numbers in the old text': (meant) => ({ old: numbered(meant.old, meant.from), new: text(meant.new) }),
  'numbers and arrows': (meant) => ({ old: numbered(meant.old, 7, '→'), new: numbered(meant.new, 7, '→') }),
  'numbers and bars': (meant) => ({ old: numbered(meant.old, 7, ' | '), new: numbered(meant.new, 7, ' | ') }),
  'numbers and colons': (meant) => ({ old: numbered(meant.old, meant.from, ': '), new: numbered(meant.new, meant.from, ': ') }), // prettier-ignore
  'moved to the margin': (meant) => {
    const margin = common([...meant.old, ...meant.new]);
    // A single line is then found to the letter, behind its indentation.
    return margin === '' || meant.old.length === 1 ? null : each(meant, (line) => line.replace(margin, ''));
  },
  'moved to the right': (meant, dice) => {
    const more = dice(2) === 0 ? meant.unit : meant.unit.repeat(2);
    return each(meant, (line) => (line.trim() === '' ? line : more + line));
  },
  'first line trimmed': (meant) => {
    const [old, written] = [meant.old[0] ?? '', meant.new[0] ?? ''];
    return indentation(old) === indentation(written) ? each(meant, (line, at) => (at === 0 ? line.trimStart() : line)) : null; // prettier-ignore
  },
  'tabs for levels': relevelled('\t'),
  'four spaces for levels': relevelled('    '),
  'two spaces for levels': relevelled('  '),
  'two spaces, one level less': relevelled('  ', 1),
  'blank lines around both': (meant, dice) => framed(meant, dice, text(meant.new)),
  'blank lines around the old text': (meant, dice) => {
    const beside = [meant.lines[meant.from - 1], meant.lines[meant.from + meant.old.length]];
    return beside.some((line) => line?.trim() === '') ? null : { ...framed(meant, dice, ''), new: text(meant.new) };
  },
  'escaped as in JSON': escapedBy(json),
  'escaped ends of lines': escapedBy((one) => one.replaceAll('\n', '\\n')),
  'escaped quotes': escapedBy((one) => one.replaceAll('"', '\\"')),
};

/** What makes each; where a text stands there to the letter all the same, that is the first stage. */
export const STAGES: Record<string, Match> = {
  'as it is': 'exact', 'LF for CRLF': 'line_ends', 'CRLF for LF': 'line_ends',
  'no trailing space': 'trailing_space', 'trailing space': 'trailing_space',
  'plain quotes': 'look_alike', 'plain spaces and dashes': 'look_alike', 'typographic quotes': 'look_alike',
  'numbers of read': 'line_numbers', 'numbers in the old text': 'line_numbers', 'numbers and arrows': 'line_numbers',
  'first line trimmed': 'exact',
  'blank lines around both': 'blank_edges', 'blank lines around the old text': 'blank_edges',
  'escaped as in JSON': 'escapes', 'escaped ends of lines': 'escapes', 'escaped quotes': 'escapes',
}; // prettier-ignore

/** Lines that the file does not have, whatever their white space, in place of the old ones. */
function absent({ lines, new: written }: Meant, old: string[]): ReturnType<Mutation> {
  const key = (some: string[]) => some.map((line) => line.trim()).join('\n');
  return key(lines).includes(key(old)) ? null : { old: text(old), new: text(written) };
}

export const DAMAGING: Record<string, Mutation> = {
  'a typing mistake': (meant, dice) => {
    const old = text(meant.old);
    const letters = [...old.matchAll(/\w/g)];
    const at = letters[dice(letters.length)]?.index ?? 0;
    const other = old[at] === 'q' ? 'z' : 'q';
    return { old: old.slice(0, at) + other + old.slice(at + 1), new: text(meant.new) };
  },
  'lines left out of the old text': (meant) =>
    meant.old.length < 4 ? null : { old: text([...meant.old.slice(0, 1), '// ... rest', ...meant.old.slice(-1)]), new: text(meant.new) }, // prettier-ignore
  'lines left out of the new text': (meant, dice) => {
    const rest = ['// ... rest of the code', '# ...', '/* ... existing code ... */', '<!-- ... -->', '... rest unchanged ...', '// …'][dice(6)]; // prettier-ignore
    return { old: text(meant.old), new: text([meant.new[0] ?? '', `${indentation(meant.new[0] ?? '')}${rest}`]), expected: [] }; // prettier-ignore
  },
  'numbers in the new text': (meant) => ({ old: text(meant.old), new: numbered(meant.new, meant.from), expected: [] }),
  'the same twice': (meant) => ({ ...each(meant, (line) => line), file: [...meant.lines, ...meant.old], expected: [] }),
  'the same twice, moved': (meant) => {
    const file = [...meant.lines, ...meant.old.map((line) => `      ${line}`)];
    return { ...each(meant, (line) => (line.trim() === '' ? line : `   ${line}`)), file, expected: [] };
  },
  'no indentation': (meant) => {
    const levels = new Set(filled(meant.old).map(indentation));
    return levels.size < 2 ? null : each(meant, (line) => line.trimStart());
  },
  'any indentation': (meant, dice) => {
    // Odd widths are no levels.
    const any = meant.old.map((line) => ' '.repeat(1 + 2 * dice(5)) + line.trimStart());
    const moved = any.map((line, at) => line.length - (meant.old[at] ?? '').length);
    return new Set(moved).size < 2 ? null : { old: text(any), new: text(meant.new) };
  },
  'a line forgotten': (meant) => (meant.old.length < 3 ? null : absent(meant, meant.old.toSpliced(1, 1))),
  'other blank lines around the new text': (meant, dice) => ({
    ...framed(meant, dice, ''),
    new: `\n${text(meant.new)}`,
    expected: [],
  }),
  'blank lines that may be meant to go': (meant, dice) => {
    const file = [...meant.lines.slice(0, meant.from), '', ...meant.lines.slice(meant.from)];
    return { old: `\n${framed(meant, dice, '').old}`, new: text(meant.new), file, expected: [] };
  },
  'blank lines around a part of a line': (meant) => {
    const part = /\w+ \w+/.exec(meant.old[0]?.slice(indentation(meant.old[0]).length + 1) ?? '')?.[0];
    return part === undefined || meant.lines.includes(part)
      ? null
      : { old: `\n${part}\n`, new: '\npart\n', expected: [] };
  },
  'escapes in the old text alone': (meant) =>
    meant.old.length < 2 || meant.new.length < 2
      ? null
      : { old: json(text(meant.old)), new: text(meant.new), expected: [] },
  'an escape of a string that was not escaped': (meant) => {
    if (meant.old.length < 2) return null;
    const lines = [...meant.new, String.raw`print("one\n");`];
    return { old: meant.old.join('\\n'), new: lines.join('\\n'), expected: [] };
  },
  'another escape in the new text': (meant) =>
    meant.old.length < 2
      ? null
      : { old: meant.old.join('\\n'), new: [...meant.new, '\\tone'].join('\\n'), expected: [] },
  'a comment for lines left out, escaped': (meant) =>
    meant.old.length < 2
      ? null
      : { old: meant.old.join('\\n'), new: [meant.new[0], '// ... rest of the code'].join('\\n'), expected: [] },
  'lines swapped': ({ old: [first = '', second = '', ...others], ...meant }) =>
    second.trim() === '' ? null : absent({ ...meant, old: [] }, [second, first, ...others]),
};
