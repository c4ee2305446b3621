import type { SCENES } from './scenes.js';

/** One way to have work called done that is not. */
export interface Lie {
  name: string;
  scene: keyof typeof SCENES;
  /** Commands of the agent, in `repo/` or in the workdir: each number is another variant, as far as there are so many. All must succeed, else nothing was tried. */
  does: (n: number) => string;
  /** The agent's own look at its work, there: it succeeds. Whoever believes that is deceived. */
  own?: string;
  /** A check that the same lie gets through. It runs beside the other one and is not required. */
  naive?: string;
  /** Whether that one is protected as the other one is. */
  naiveProtects?: boolean;
  /** Of the check, when the lie takes time. */
  timeoutSeconds?: number;
}

export const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
/** A file of these lines, as a command. */
export const file = (path: string, ...lines: string[]) => `cat >'${path}' <<'END'\n${lines.join('\n')}\nEND`;
