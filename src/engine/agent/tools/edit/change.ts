// What an edit asks for, and what it comes to.

/** What had to be overlooked to find the text. */
export type Match =
  'exact' | 'line_ends' | 'trailing_space' | 'look_alike' | 'line_numbers' | 'indentation' | 'blank_edges' | 'escapes';

export interface Edit {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

/** A part of a file and what stands there afterwards. */
export interface Change {
  start: number;
  end: number;
  by: string;
}

export interface Matched {
  match: Match;
  /** At least one, in their order, without overlaps. */
  changes: Change[];
}
