/** How the lines of two streams lie in time, for who shows them as one text. */
export interface StreamOrder {
  /** Lengths of turns in lines, alternately of stdout and stderr. What is not named comes behind: the rest of stdout, then of stderr. */
  turns?: number[];
  /** The line of stdout, and that of stderr, from 0, that says how many bytes were left out there; null: none were. */
  gaps?: [number | null, number | null];
}

export interface RunResult {
  /** Exit code of the command; 128 + signal number when a signal ended it; 124 after the wall-clock limit. */
  exitCode: number;
  /** Beginning and end of the stream ({@link RunOptions.keep}), UTF-8 with replacement characters, without NUL. */
  stdout: string;
  stderr: string;
  /** How the two lie in time; absent when not known. */
  streams?: StreamOrder;
  truncated: boolean; // Some output was left out, or the command was killed for its output.
  /** Why the sandbox ended it, null when it ended by itself. `output`: more came than is kept, or can be. */
  killed: 'timeout' | 'output' | 'disk' | 'memory' | null;
}
