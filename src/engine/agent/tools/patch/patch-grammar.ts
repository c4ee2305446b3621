// The patch format that GPT-5 and later were trained on: parsed as a whole before anything is looked at.

/** One hunk: lines of a file that change. */
export interface Hunk {
  /** Line of the patch at which it begins, from 1. */
  line: number;
  /** The lines after `@@`, outermost first: the hunk stands below them. */
  anchors: string[];
  /** What stands there: context and what is removed. */
  before: string[];
  /** What stands there afterwards: context and what is added. */
  after: string[];
  /** The last line of it is the last line of the file. */
  atEnd: boolean;
}

export type PatchOperation =
  | { type: 'add'; path: string; content: string }
  | { type: 'delete'; path: string }
  | { type: 'update'; path: string; moveTo: string | null; hunks: Hunk[] };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const OPERATION = /^\*\*\* (Add|Delete|Update) File: *(.*)$/;
const MOVE = /^\*\*\* Move to: *(.*)$/;
const END_OF_FILE = '*** End of File';
/** A model that knows the command line writes the patch into a here-document. */
const HERE_DOCUMENT = /^(?:apply_patch\s+)?<<-?\s*(['"]?)(\w+)\1\n([\s\S]*)\n\2$/;

/** @throws Error with the line of the patch that is wrong, for the model. */
export function parsePatch(text: string): PatchOperation[] {
  const inner = HERE_DOCUMENT.exec(text.trim());
  const lines = (inner?.[3] ?? text)
    .trim()
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  if (lines[0]?.trim() !== BEGIN) throw new Error(`The first line of a patch is "${BEGIN}". Nothing was changed.`);
  if (lines.at(-1)?.trim() !== END) throw new Error(`The last line of a patch is "${END}". Nothing was changed.`);
  const operations = new PatchReader(lines).operations();
  if (operations.length === 0)
    throw new Error('The patch changes no file: it has no line like "*** Update File: path".');
  return operations;
}

class PatchReader {
  /** Index of the next line. */
  private at = 1;

  constructor(private readonly lines: string[]) {}

  operations(): PatchOperation[] {
    const operations: PatchOperation[] = [];
    while (this.at < this.lines.length - 1) {
      if (this.next().trim() === '') this.at++;
      else operations.push(this.operation());
    }
    return operations;
  }

  private operation(): PatchOperation {
    const [, verb, path = ''] =
      OPERATION.exec(this.next().trim()) ??
      this.wrong('expected is "*** Add File: path", "*** Update File: path" or "*** Delete File: path"');
    if (path === '') this.wrong('a path is missing');
    this.at++;
    if (verb === 'Delete') return { type: 'delete', path };
    return verb === 'Add' ? { type: 'add', path, content: this.added() } : this.update(path);
  }

  private added(): string {
    const content: string[] = [];
    for (; !this.over(); this.at++) {
      const line = this.next();
      if (!line.startsWith('+')) this.wrong('each line of an added file begins with "+"');
      content.push(line.slice(1));
    }
    return content.map((line) => `${line}\n`).join('');
  }

  private update(path: string): PatchOperation {
    const begin = this.at;
    const moveTo = MOVE.exec(this.next().trim())?.[1] ?? null;
    if (moveTo === '') this.wrong('a path is missing');
    if (moveTo !== null) this.at++;
    const hunks: Hunk[] = [];
    while (!this.over()) hunks.push(this.hunk(hunks.length === 0));
    if (hunks.length === 0 && moveTo === null) this.wrong(`the update of ${path} has no hunk`, begin - 1);
    return { type: 'update', path, moveTo, hunks };
  }

  private hunk(first: boolean): Hunk {
    const hunk: Hunk = { line: this.at + 1, anchors: [], before: [], after: [], atEnd: false };
    // The first hunk of a file may go without.
    if (!first && !this.isAnchor()) this.wrong('a further hunk begins with "@@"');
    for (; !this.over() && this.isAnchor(); this.at++) {
      const anchor = this.next().trim().slice(2).trim();
      if (anchor !== '') hunk.anchors.push(anchor);
    }
    for (; !this.over() && !this.isAnchor() && !hunk.atEnd; this.at++) this.line(hunk);
    if (hunk.before.length + hunk.after.length === 0) this.wrong('the hunk has no lines', hunk.line - 1);
    return hunk;
  }

  private line(hunk: Hunk): void {
    const line = this.next();
    if (line.trim() === END_OF_FILE) {
      hunk.atEnd = true;
      return;
    }
    const rest = line.slice(1);
    // An empty line of context often comes without its space.
    if (line === '' || line.startsWith(' ')) {
      hunk.before.push(rest);
      hunk.after.push(rest);
    } else if (line.startsWith('-')) hunk.before.push(rest);
    else if (line.startsWith('+')) hunk.after.push(rest);
    else this.wrong('each line of a hunk begins with " ", "-" or "+"');
  }

  private next(): string {
    return this.lines[this.at] ?? '';
  }

  private isAnchor(): boolean {
    return this.next().startsWith('@@');
  }

  /** Whether what belongs to the file is over. A line of context may look like an operation behind its space. */
  private over(): boolean {
    return this.at >= this.lines.length - 1 || OPERATION.test(this.next().trimEnd());
  }

  private wrong(what: string, at = this.at): never {
    const line = this.lines[at] ?? '';
    const begin = line.length > 100 ? `${line.slice(0, 100)}…` : line;
    throw new Error(
      `The patch is wrong at its line ${at + 1} (${JSON.stringify(begin)}): ${what}. Nothing was changed.`,
    );
  }
}
