// Where an edit belongs in a file, and what it means there. The stages go from the exact text to one whose indentation
// was moved, or that has blank lines around it or escapes in it. Each leaves out a little more of what models change when they copy, and none looks for what is merely similar.
import { setImmediate } from 'node:timers/promises';
import { isBesideBlank, withoutBlankEdges } from './blank-edges.js';
import type { Edit, Match, Matched } from './change.js';
import { withoutEscapes } from './escapes.js';
import { indentationOf, unitOf } from './indentation.js';
import { type Unnumbered, withoutNumbers } from './line-numbers.js';
import { type Form, lineAt, Lines, offsetsOf } from './lines.js';
import { plain } from './look-alikes.js';
import { rebased } from './rebase.js';
import { checkNewText, notFound, occursOften, unclear } from './refusal.js';

interface Stage {
  match: Match;
  /** What the stage sees of a line. It cuts at the ends only, so what is left keeps its columns. */
  form: (line: string) => string;
  /** Only whole lines are found: what the stage cuts at their beginning is gone from the text too. */
  whole: boolean;
}

const STAGES: Stage[] = [
  { match: 'line_ends', form: (line) => (line.endsWith('\r') ? line.slice(0, -1) : line), whole: false },
  { match: 'trailing_space', form: (line) => line.trimEnd(), whole: false },
  { match: 'look_alike', form: (line) => plain(line).trimEnd(), whole: false },
  { match: 'line_numbers', form: (line) => plain(line).trimEnd(), whole: true },
  { match: 'indentation', form: (line) => plain(line).trim(), whole: true },
  { match: 'blank_edges', form: (line) => plain(line).trimEnd(), whole: true },
  { match: 'escapes', form: (line) => line.trimEnd(), whole: false },
];
/** A text of more lines is found only as it stands: the later stages keep lists of its lines. */
const LINES = 5_000;

/** Throws an `Error` for the model when the edit cannot be made, or could mean two things. */
export async function matched(file: Lines, edit: Edit, path: string): Promise<Matched> {
  await checkNewText(edit);
  const { oldText, newText, replaceAll } = edit;
  const returns = file.text.includes('\r\n');
  // A part of the lines may end in another way: all occurrences are wanted, not all of one kind.
  const exact = replaceAll && returns ? [] : await offsetsOf(file.text, oldText);
  if (exact.length > 1 && !replaceAll) throw occursOften(exact.map((offset) => file.at(offset)), path, 'exact'); // prettier-ignore
  if (exact.length > 0 && (replaceAll || isLiteral(file, edit, exact[0] ?? 0, path))) {
    const by = inLineEnds(file, oldText, newText);
    const changes = await each(exact, (start) => ({ start, end: start + oldText.length, by: by(start) }));
    return { match: 'exact', changes };
  }
  const long = (await Lines.of(oldText)).count > LINES || (await Lines.of(newText)).count > LINES;
  const copied = long ? null : withoutNumbers(oldText, newText);
  for (const stage of STAGES) {
    if (stage.match !== 'line_ends' && (long || oldText.trim() === '')) break;
    const said = saidAt(stage, edit, copied);
    if (said === null) continue;
    const occurrences = await found(file, said.oldText, stage);
    if (occurrences.length === 0) continue;
    if (said !== edit) await checkNewText(said);
    if (occurrences.length > 1 && !(replaceAll && stage.match === 'line_ends')) throw occursOften(occurrences.map(({ line }) => line), path, stage.match); // prettier-ignore
    if (!stage.whole && !replaceAll && !isLiteral(file, said, occurrences[0]?.start ?? 0, path)) continue;
    if (said.goes === true && isBesideBlank(file, occurrences[0]?.start ?? 0, occurrences[0]?.end ?? 0)) continue;
    if (copied?.line != null && said !== edit && occurrences[0]?.line !== copied.line - 1) continue;
    const by = byIn(file, said, stage);
    const changes = await each(occurrences, ({ line, start, end }) => {
      const text = by({ line, start, end });
      if (text === null)
        throw unclear(file, line, said.oldText, path, stage.match === 'indentation' ? 'indentation' : 'look_alike');
      return { start, end, by: text };
    });
    return { match: stage.match, changes };
  }
  throw await notFound(file, copied?.oldText ?? oldText, path);
}

/** What the model meant to say, as a stage reads it; null where that is nothing for this stage. */
function saidAt({ match, whole }: Stage, edit: Edit, copied: Unnumbered | null): (Edit & { goes?: boolean }) | null {
  const { oldText, newText, replaceAll } = edit;
  if (match === 'blank_edges' || match === 'escapes') {
    const retold = match === 'escapes' ? withoutEscapes(oldText, newText) : withoutBlankEdges(oldText, newText);
    return retold === null || copied !== null ? null : { ...retold, replaceAll };
  }
  if (copied === null) return match === 'line_numbers' ? null : edit;
  return whole ? { ...copied, replaceAll } : edit;
}

/**
 * Whether the new text may stand as it is where the old one begins in the middle of a line. False when that is amid its
 * indentation, which was then moved. Throws when the old text begins behind the indentation, and what the new one has may
 * count from there or from the margin.
 */
function isLiteral(file: Lines, { oldText, newText }: Edit, offset: number, path: string): boolean {
  const line = file.at(offset);
  const before = file.text.slice(file.start(line), offset);
  if (before === '' || before.trim() !== '') return true;
  const [first = '', ...others] = newText.split('\n', LINES);
  if (/^\s/.test(oldText)) {
    return !oldText.includes('\n') && others.length === 0 && indentationOf(oldText) === indentationOf(newText);
  }
  const pinned = oldText.includes('\n') || others.every((one) => one.startsWith(before) || one.trim() === '');
  if (pinned && (first === '' || !/^\s/.test(first))) return true;
  throw unclear(file, line, oldText, path, 'exact');
}

interface Occurrence {
  start: number;
  end: number;
  /** From 0. */
  line: number;
}

async function found(file: Lines, oldText: string, { form, whole }: Stage): Promise<Occurrence[]> {
  const old = await Lines.of(oldText);
  const formed = await file.form(form);
  // Its last line may end in the middle of one of the file, and has no line end to add.
  const wanted = (await old.form(form)).text.slice(0, oldText.endsWith('\n') ? undefined : -1);
  const last = old.line(old.count - 1);
  const atEnd = whole || form(last).length < last.length;
  const occurrences: Occurrence[] = [];
  await each(await offsetsOf(formed.text, wanted), (start) => {
    const line = lineAt(formed.starts, start);
    const end = start + wanted.length;
    if (whole && formed.starts[line] !== start) return;
    if (atEnd && !wanted.endsWith('\n') && formed.text.charAt(end) !== '\n') return;
    const begin = whole ? file.start(line) : rawAt(file, formed, start);
    occurrences.push({ line, start: begin, end: endAt(file, formed, end, whole) });
  });
  return occurrences;
}

function rawAt(file: Lines, form: Form, offset: number): number {
  if (offset >= form.text.length) return file.text.length;
  const line = lineAt(form.starts, offset);
  return file.start(line) + offset - (form.starts[line] ?? 0);
}

/** Of whole lines the end is behind what the line still has, but for white space, because its beginning was cut too. */
function endAt(file: Lines, form: Form, offset: number, whole: boolean): number {
  const line = lineAt(form.starts, offset);
  if (!whole || offset === form.starts[line] || offset >= form.text.length) return rawAt(file, form, offset);
  return file.start(line) + file.line(line).trimEnd().length;
}

/** The new text for an occurrence that a stage finds; null when it does not follow from what was copied. */
function byIn(file: Lines, { oldText, newText }: Edit, stage: Stage): (offset: Occurrence) => string | null {
  const level = STAGES.indexOf(stage);
  const inEnds = inLineEnds(file, oldText, newText);
  const unit = stage.match === 'indentation' ? { unit: unitOf(indentations(file)) } : null;
  return ({ start, end }) => {
    const raw = file.text.slice(start, end);
    const lineEnd = file.lineEnd(start);
    if (stage.match === 'line_ends' && !isMixed(raw)) return inEnds(start);
    return rebased({ oldText, newText, raw, lineEnd, trailing: level >= 1, alike: level >= 2, moved: unit });
  };
}

function isMixed(text: string): boolean {
  return text.includes('\r\n') && /(?:^|[^\r])\n/.test(text);
}

function* indentations(file: Lines): Generator<string> {
  for (let line = 0; line < Math.min(file.count, LINES); line++) {
    const text = file.line(line);
    if (text.trim() !== '') yield `${indentationOf(text)}.`;
  }
}

/** The new text for an exact occurrence of the old one: a model writes lines that end in `\n`. */
function inLineEnds(file: Lines, oldText: string, newText: string): (offset: number) => string {
  const lines = newText.replaceAll('\r\n', '\n');
  // Only the line ends differ, so they are meant.
  if (lines === oldText.replaceAll('\r\n', '\n') || !newText.includes('\n')) return () => newText;
  // `replaceAll` takes four times as long for a million of them.
  const returns = lines.split('\n').join('\r\n');
  return (offset) => (file.lineEnd(offset) === '\r\n' ? returns : lines);
}

async function each<T, R>(all: T[], of: (one: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const one of all) {
    results.push(of(one));
    if (results.length % 5_000 === 0) await setImmediate();
  }
  return results;
}
