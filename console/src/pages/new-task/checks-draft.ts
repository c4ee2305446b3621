import { checkName, type CreateTask } from '../../api/client.ts';

/** A line of the form. The name may be empty: it is made of the command. */
export interface CheckLine {
  id: string;
  name: string;
  command: string;
}

export interface ChecksDraft {
  lines: CheckLine[];
  /** Patterns of paths, for all of them. */
  protect: string[];
  /** Empty: the default. */
  maxRepairs: string;
}

export const NO_CHECKS: ChecksDraft = { lines: [], protect: [], maxRepairs: '' };

// A draft is kept over a reload: its lines keep their ids, too.
export const newLine = (): CheckLine => ({ id: `${Date.now()}-${Math.random()}`, name: '', command: '' });

/** The names by which the lines are sent. */
export function namesOf(lines: readonly CheckLine[]): string[] {
  const taken = new Set(lines.map(({ name }) => name.trim()));
  return lines.map(({ name, command }) => {
    const made = name.trim() || checkName(command, taken);
    taken.add(made);
    return made;
  });
}

/** Those lines that have something in them; the service says what is wrong with one. */
export function checksIn({ lines, protect }: ChecksDraft): NonNullable<CreateTask['checks']> {
  const filled = lines.filter(({ name, command }) => name.trim() !== '' || command.trim() !== '');
  const names = namesOf(filled);
  return filled.map(({ command }, n) => ({
    name: names[n] ?? '',
    command,
    ...(protect.length > 0 && { protect }),
  }));
}
