// What stands in a command line.
import { parseArgs } from 'node:util';

/** The line is wrong; the message says what is accepted. */
export class UsageError extends Error {}

/** One option takes a text, may come several times, or is a switch. */
export type OptionKind = 'text' | 'texts' | 'switch';

export interface Verb {
  /** Of the words behind the verb: `TASK`, or `CONTENT|-`. The last may be one that can be left out: `[CONTENT|-]`. */
  words: readonly string[];
  options: Record<string, OptionKind>;
  /** Resolves with the exit code. */
  run(line: Line): Promise<number>;
}

export class Line {
  constructor(
    private readonly words: readonly string[],
    private readonly values: Record<string, unknown>,
  ) {}

  word(index: number): string {
    const word = this.words[index];
    if (word === undefined) throw new UsageError("A word is missing: 'mw --help' shows the line.");
    return word;
  }
  /** Undefined when it is left out. */
  optionalWord(index: number): string | undefined {
    return this.words[index];
  }
  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }
  texts(name: string): string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }
  has(name: string): boolean {
    return this.values[name] !== undefined;
  }
  get json(): boolean {
    return this.has('json');
  }
}

/** Throws {@link UsageError}. */
export function parse(name: string, args: readonly string[], { words, options }: Verb): Line {
  const all: Record<string, OptionKind> = { ...options, json: 'switch' };
  const known = Object.entries(all).map(
    ([name, kind]) =>
      [name, { type: kind === 'switch' ? 'boolean' : 'string', multiple: kind === 'texts' } as const] as const,
  );
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      options: Object.fromEntries(known),
      allowPositionals: true,
    });
    const needed = words.filter((word) => !word.startsWith('[')).length;
    if (positionals.length < needed || positionals.length > words.length) {
      const more = positionals.length > words.length && words.length > 0;
      const hint = more ? ', a text of several words in quotes' : '';
      throw new UsageError(`Expected: mw ${[name, ...words].join(' ')}${hint}. 'mw ${name} --help' shows more.`);
    }
    return new Line(positionals, values);
  } catch (error) {
    // Node speaks of how words that begin with a dash may be given too: one sentence is enough.
    if (error instanceof TypeError)
      throw new UsageError(`${error.message.split('. ')[0] ?? ''}. 'mw ${name} --help' shows more.`);
    throw error;
  }
}
