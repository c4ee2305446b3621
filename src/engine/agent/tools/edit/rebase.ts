// The new text in the terms of the file: what a model copied and left as it was stays as the file has it, down to the
// byte; what it wrote takes on the file's line ends, characters and indentation.
import { diffArrays } from 'diff';
import { indentationOf, indented, type Pair } from './indentation.js';
import { type Characters, compare, inCharacters } from './look-alikes.js';

/** Steps of the comparison of two texts; above it everything between their equal ends counts as changed. */
const STEPS = 200;
const LINE_END = /\r?\n/;

export interface Rebase {
  oldText: string;
  newText: string;
  /** The occurrence in the file. It has as many lines as `oldText`, and each is the same but for what the stage does not mind. */
  raw: string;
  /** `\n` or `\r\n`, for lines that the file does not have. */
  lineEnd: string;
  /** The white space at the ends of lines differs. */
  trailing: boolean;
  /** The characters look the same. */
  alike: boolean;
  /** The indentation differs. `unit` is a level of the file. */
  moved: { unit: string | null } | null;
}

/** The text for the occurrence; null when it does not follow from the old text what the new one means. */
export function rebased(one: Rebase): string | null {
  const old = one.oldText.split(LINE_END);
  const written = one.newText.split(LINE_END);
  const raw = one.raw.split('\n').map((line, at, all) => (at < all.length - 1 && line.endsWith('\r') ? line.slice(0, -1) : line)); // prettier-ignore
  const ends = one.raw.match(/\r?\n/g) ?? [];
  const sources = sourcesOf(old, written, one.trailing);
  // The model writes white space at the ends of lines that have none.
  const added = one.trailing && old.some((line, at) => endOf(line) !== '' && endOf(raw[at] ?? '') === '');
  const characters = one.alike ? charactersOf(old, raw) : new Map<string, null>();
  const indentations = one.moved === null ? null : moved(old, written, sources, raw, one.moved.unit);
  if (one.moved !== null && indentations === null) return null;

  let text = '';
  for (const [at, line] of written.entries()) {
    const source = sources[at] ?? { line: null, kept: false };
    const from = source.line === null ? null : { old: old[source.line] ?? '', raw: raw[source.line] ?? '' };
    if (source.kept && from !== null) text += from.raw;
    else {
      const indentation = indentations?.[at];
      const content = indentation === undefined ? line : line.trimStart();
      const copied = from !== null && indentation !== undefined ? trimmedStart(from) : from;
      const changed = one.alike ? alike(characters, copied, content) : content;
      if (changed === null) return null;
      text += (indentation ?? '') + (one.trailing ? trailing(copied, changed, added) : changed);
    }
    if (at < written.length - 1) text += (source.line === null ? undefined : ends[source.line]) ?? one.lineEnd;
  }
  return text;
}

/** A line of the old text that a new one stands for: kept as it is, changed or moved. */
interface Source {
  line: number | null;
  kept: boolean;
}

function sourcesOf(old: string[], written: string[], trailing: boolean): Source[] {
  // A line that was only moved is the same line.
  const [oldKeys, newKeys] = [old, written].map((lines) => lines.map((line) => line.trim())) as [string[], string[]];
  let head = 0;
  while (head < Math.min(old.length, written.length) && oldKeys[head] === newKeys[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, written.length) - head;
  while (tail < most && oldKeys.at(-1 - tail) === newKeys.at(-1 - tail)) tail++;
  const lines: (number | null)[] = [
    ...Array.from({ length: head }, (_, at) => at),
    ...changes(oldKeys.slice(head, old.length - tail), newKeys.slice(head, written.length - tail), head),
    ...Array.from({ length: tail }, (_, at) => old.length - tail + at),
  ];
  return lines.map((line, at) => {
    const [before, after] = [line === null ? null : (old[line] ?? ''), written[at] ?? ''];
    const kept = before === after || (trailing && before?.trimEnd() === after.trimEnd());
    return { line, kept };
  });
}

/** For each new line the old one that it is, or that stood in its place. */
function changes(old: string[], written: string[], offset: number): (number | null)[] {
  const parts = diffArrays(old, written, { maxEditLength: STEPS }) ?? [
    { value: old, removed: true, added: false },
    { value: written, removed: false, added: true },
  ];
  const sources: (number | null)[] = [];
  let line = offset;
  let removed = 0;
  for (const { value, removed: isRemoved, added } of parts) {
    if (isRemoved) {
      removed = value.length;
      line += removed;
      continue;
    }
    // As many lines as were removed: each is the one in its place, changed.
    const paired = added && removed === value.length;
    for (let at = 0; at < value.length; at++) {
      if (added) sources.push(paired ? line - removed + at : null);
      else sources.push(line++);
    }
    removed = 0;
  }
  return sources;
}

function charactersOf(old: string[], raw: string[]): Characters {
  const characters: Characters = new Map();
  for (const [at, line] of old.entries()) compare(characters, line.trim(), (raw[at] ?? '').trim());
  return characters;
}

/** A written line in the characters of the file: what was copied as it is there, the rest as they are elsewhere in the occurrence. */
function alike(characters: Characters, copied: { old: string; raw: string } | null, line: string): string | null {
  const words = (text: string) => text.match(/\w+|\s+|[^\w\s]/g) ?? [];
  if (copied === null || copied.old.trimEnd().length > copied.raw.length) return inCharacters(characters, line);
  const parts = diffArrays(words(copied.old.trimEnd()), words(line), { maxEditLength: STEPS });
  if (parts === undefined) return inCharacters(characters, line);
  let text = '';
  let at = 0;
  for (const { value, added, removed } of parts) {
    const part = value.join('');
    const new_ = added ? inCharacters(characters, part) : removed ? '' : copied.raw.slice(at, at + part.length);
    if (new_ === null) return null;
    text += new_;
    if (!added) at += part.length;
  }
  return text;
}

/** The white space at the end of a written line: the file's, unless the model changed that. */
function trailing(copied: { old: string; raw: string } | null, line: string, added: boolean): string {
  if (copied !== null && endOf(line) === endOf(copied.old)) return line.trimEnd() + endOf(copied.raw);
  return added ? line.trimEnd() : line;
}

function endOf(line: string): string {
  return line.slice(line.trimEnd().length);
}

function trimmedStart({ old, raw }: { old: string; raw: string }) {
  return { old: old.trimStart(), raw: raw.trimStart() };
}

/** The indentation in the file for each new line that is not kept; null when it cannot be told. */
function moved(
  old: string[],
  written: string[],
  sources: Source[],
  raw: string[],
  unit: string | null,
): (string | undefined)[] | null {
  const pairs: Pair[] = [];
  for (const [at, line] of old.entries()) {
    if (line.trim() !== '') pairs.push([indentationOf(line), indentationOf(raw[at] ?? '')]);
  }
  // The old text was moved, and the new one begins as the file does: it may have been moved or not.
  const [begun, begins] = [pairs[0], written.find((line) => line.trim() !== '')];
  const beginning = begins === undefined ? undefined : indentationOf(begins);
  if (begun !== undefined && beginning !== begun[0] && beginning === begun[1]) return null;
  const own = written.flatMap((line, at) => (sources[at]?.kept !== true && line.trim() !== '' ? [at] : []));
  // The first line always takes part: it may have been copied without its indentation.
  const asked = own[0] === 0 || written[0]?.trim() === '' ? own : [0, ...own];
  const found = indented(pairs, asked.map((at) => indentationOf(written[at] ?? '')), unit); // prettier-ignore
  if (found === null) return null;
  const result: (string | undefined)[] = written.map((line) => (line.trim() === '' ? '' : undefined));
  for (const [index, at] of asked.entries()) result[at] = found[index];
  return result;
}
