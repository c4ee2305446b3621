// What models do to a text when they copy it, done to real files of many languages by a fixed sequence of chance. An edit
// either does exactly what was meant, or nothing (docs/decisions/0046).
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Edit, Match } from './change.js';
import { replaced } from './edit-diff.js';
import { Lines } from './lines.js';
import { matched } from './match.js';

const ROOT = join(import.meta.dirname, '../../../../..');
/** How many files of each folder. What is installed is read, never kept. */
const FOLDERS: Record<string, number> = {
  src: 40, docs: 6, scripts: 6, test: 15, bench: 4, '.': 6,
  'node_modules/bull': 12, 'node_modules/webpack/lib': 10, 'node_modules/eslint/lib': 12, 'node_modules/typeorm': 8,
  'node_modules/openapi3-ts': 6, 'node_modules/flatted': 10, 'node_modules/node-addon-api': 6, 'node_modules/prom-client': 6,
  'node_modules/swagger-ui-dist': 4, 'node_modules/zod/src': 6, 'node_modules/express': 5, 'node_modules/istanbul-reports': 4,
  'node_modules/@nestjs/common': 6, 'node_modules/tslib': 3, 'node_modules/libphonenumber-js': 4, 'node_modules/bintrees': 4,
}; // prettier-ignore
const TEXT = /\.(ts|tsx|js|mjs|cjs|json|md|ya?ml|sql|lua|cc|c|h|html|css|py|go|gypi?|sh|php)$/;

/** The same numbers each time (mulberry32). */
function chance(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function seedOf(text: string): number {
  return [...text].reduce((seed, one) => (Math.imul(seed, 31) + one.charCodeAt(0)) | 0, 46);
}

function files(): { path: string; text: string }[] {
  return Object.entries(FOLDERS).flatMap(([folder, most]) => {
    const all = readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' });
    const usable = all.filter((name) => TEXT.test(name) && !/node_modules|\.min\./.test(name)).sort();
    const fit = usable.map((name) => join(ROOT, folder, name)).filter((path) => {
      const stat = statSync(path);
      return stat.isFile() && stat.size > 600 && stat.size < 40_000 && !/^.{600}/m.test(readFileSync(path, 'utf8'));
    }); // prettier-ignore
    const step = Math.max(1, Math.floor(fit.length / most));
    const chosen = fit.filter((_, at) => at % step === 0).slice(0, most);
    return chosen.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  });
}

/** A place of a file, and what is meant to stand there: lines without their ends. */
interface Meant {
  lines: string[];
  from: number;
  old: string[];
  new: string[];
  unit: string;
}
/** What the model sends, and the file that it is for when that differs. Null: it cannot happen here. */
type Mutation = (meant: Meant, dice: (below: number) => number) => { old: string; new: string; file?: string[]; expected?: string[]; end?: string } | null; // prettier-ignore

const indentation = (line: string) => line.slice(0, line.length - line.trimStart().length);
const text = (lines: string[]) => lines.join('\n');
const each = (meant: Meant, change: (line: string, at: number) => string) => ({
  old: text(meant.old.map(change)),
  new: text(meant.new.map(change)),
});
const filled = (lines: string[]) => lines.filter((line) => line.trim() !== '');
const lineCount = (lines: string[], line: string) => lines.filter((one) => one.trim() === line.trim()).length;
const common = (lines: string[]) => filled(lines).map(indentation).reduce((a, b) => (b.startsWith(a) ? a : a.startsWith(b) ? b : '')); // prettier-ignore

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

const APPLIED: Record<string, Mutation> = {
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
};

/** What makes each; where a text stands there to the letter all the same, that is the first stage. */
const STAGES: Record<string, Match> = {
  'as it is': 'exact', 'LF for CRLF': 'line_ends', 'CRLF for LF': 'line_ends',
  'no trailing space': 'trailing_space', 'trailing space': 'trailing_space',
  'plain quotes': 'look_alike', 'plain spaces and dashes': 'look_alike', 'typographic quotes': 'look_alike',
  'numbers of read': 'line_numbers', 'numbers in the old text': 'line_numbers', 'numbers and arrows': 'line_numbers',
  'first line trimmed': 'exact',
}; // prettier-ignore

/** Lines that the file does not have, whatever their white space, in place of the old ones. */
function absent({ lines, new: written }: Meant, old: string[]): ReturnType<Mutation> {
  const key = (some: string[]) => some.map((line) => line.trim()).join('\n');
  return key(lines).includes(key(old)) ? null : { old: text(old), new: text(written) };
}

const DAMAGING: Record<string, Mutation> = {
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
  'lines swapped': ({ old: [first = '', second = '', ...others], ...meant }) =>
    second.trim() === '' ? null : absent({ ...meant, old: [] }, [second, first, ...others]),
};

/** Some lines that occur once, whatever their indentation, and an edit of them; null when chance finds none. */
function meantIn(lines: string[], dice: (below: number) => number): Meant | null {
  const steps = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const [before, own] = [indentation(lines[at - 1] ?? ''), indentation(line)];
    const step = own.startsWith(before) ? own.slice(before.length) : '';
    if (step !== '' && step !== ' ') steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  const unit = [...steps].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '  ';
  for (let tries = 0; tries < 12; tries++) {
    const from = dice(lines.length);
    const old = lines.slice(from, from + 1 + dice(8));
    const key = (some: string[]) => some.map((line) => line.trim()).join('\n');
    if (old[0]?.trim() === '' || old.at(-1)?.trim() === '' || !/\w{3}/.test(text(old))) continue;
    const written = edited(old, unit, dice);
    if (written === null || old.some((line) => line !== line.trimEnd()) || text(written) === text(old)) continue;
    // A single line may stand inside of others.
    const all = `\n${key(lines)}\n`;
    const found = old.length === 1 ? key(old) : `\n${key(old)}\n`;
    if (all.split(found).length === 2) return { lines, from, old, new: written, unit };
  }
  return null;
}

function edited(old: string[], unit: string, dice: (below: number) => number): string[] | null {
  const at = dice(old.length);
  const line = old[at] ?? '';
  const renamed = line.replace(/[A-Za-z]\w{2,}/, (word) => `${word}2`);
  const own = indentation(line);
  switch (dice(5)) {
    case 0:
      return renamed === line ? null : old.with(at, renamed);
    case 1:
      return line.trim() === '' ? null : [...old.slice(0, at + 1), `${own}added(one, two);`, ...old.slice(at + 1)];
    case 2:
      return old.length < 2 ? null : old.toSpliced(at, 1);
    case 3: {
      const margin = common(old);
      const inner = old.map((one) => (one.trim() === '' ? one : unit + one));
      return [`${margin}if (ready) {`, ...inner, `${margin}}`];
    }
    default:
      return [`${common(old)}replacement(one);`, `${common(old)}${unit}deeper();`];
  }
}

type Outcome = Match | 'refused' | 'damaged';

async function outcomeOf(meant: Meant, sent: NonNullable<ReturnType<Mutation>>): Promise<Outcome> {
  const { file = meant.lines, expected = meant.new, end = '\n' } = sent;
  const edit: Edit = { oldText: sent.old, newText: sent.new, replaceAll: false };
  const lines = await Lines.of(file.join(end));
  const made = await matched(lines, edit, 'file').catch((error: unknown) => {
    // What is refused is said in words, with at most twelve lines of the file.
    expect((error as Error).message.split('\n').length).toBeLessThanOrEqual(14);
    return null;
  });
  if (made === null) return 'refused';
  const after = file.toSpliced(meant.from, meant.old.length, ...expected).join(end);
  const result = await replaced(lines.text, made.changes);
  const applied = expected.length > 0 && result === after;
  return applied ? made.match : 'damaged';
}

describe('an edit of a real file', () => {
  const all = files().map(({ path, text }) => ({ path, lines: text.replaceAll('\r\n', '\n').split('\n') }));

  it('is tried on a hundred files of ten kinds', () => {
    expect(all.length).toBeGreaterThanOrEqual(100);
    expect(new Set(all.map(({ path }) => extname(path))).size).toBeGreaterThanOrEqual(10);
  });

  const total: { applied: number; refused: number }[] = [];
  const run = async (name: string, mutation: Mutation) => {
    const counts: Partial<Record<Outcome, number>> = {};
    const damaged: object[] = [];
    for (const { path, lines } of all) {
      // Of its own for each file and mutation: a file that changes, changes no other.
      const dice = chance(seedOf(path.slice(ROOT.length) + name));
      for (let times = 0; times < 2; times++) {
        const meant = meantIn(lines, dice);
        const sent = meant === null ? null : mutation(meant, dice);
        if (meant === null || sent === null) continue;
        // What stands there or elsewhere to the letter is found there, and no mutation.
        const { old, file = lines } = sent;
        const others = [...file.slice(0, meant.from), '', ...file.slice(meant.from + meant.old.length)];
        const moved = old !== text(meant.old) && name !== 'first line trimmed';
        if (name !== 'the same twice' && text(moved ? file : others).includes(old)) continue;
        const outcome = await outcomeOf(meant, sent);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        if (outcome === 'damaged') damaged.push({ path, line: meant.from + 1, sent: { old: sent.old, new: sent.new } });
      }
    }
    expect(damaged).toEqual([]);
    return counts;
  };

  it.each(Object.entries(APPLIED))('is made as it was meant: %s', async (name, mutation) => {
    const { exact = 0, refused = 0, ...others } = await run(name, mutation);
    const stage = STAGES[name] ?? 'indentation';
    expect(Object.keys({ ...others, [stage]: 1 })).toEqual([stage]);
    const applied = exact + (others[stage as keyof typeof others] ?? 0);
    total.push({ applied, refused });
    // One line tells little of how it was moved: of some kinds there are few.
    expect(applied / (applied + refused)).toBeGreaterThanOrEqual(0.75);
    expect(stage === 'exact' ? exact : others[stage as keyof typeof others]).toBeGreaterThanOrEqual(20);
  });

  it('is made in nine of ten cases', () => {
    const sum = (which: 'applied' | 'refused') => total.reduce((all, one) => all + one[which], 0);
    expect(sum('applied')).toBeGreaterThan(9 * sum('refused'));
  });

  it.each(Object.entries(DAMAGING))('is refused rather than guessed: %s', async (name, mutation) => {
    const { refused, ...others } = await run(name, mutation);
    expect(others).toEqual({});
    expect(refused).toBeGreaterThanOrEqual(20);
  });
});
