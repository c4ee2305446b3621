/** A file as a change has left it. */
export interface ChangedFile {
  path: string;
  text: string;
  /** As it was before; null when it was not there, or that is not known. */
  before: string | null;
}

/** The first thing that is wrong with the syntax of a text. */
export interface Fault {
  /** From 1; null when it is not known. */
  line: number | null;
  message: string;
}
