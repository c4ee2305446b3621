// What models do to a text when they copy it, done to real files of many languages by a fixed sequence of chance. An edit
// either does exactly what was meant, or nothing (docs/decisions/0046).
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Edit, Match } from './change.js';
import { replaced } from './edit-diff.js';
import {
  APPLIED,
  common,
  DAMAGING,
  indentation,
  type Meant,
  type Mutation,
  STAGES,
  text,
} from '../../../../../test/harness/edit-mutations.js';
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
