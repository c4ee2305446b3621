import { checkName, type CreateTask, type Project } from '../../api/client.ts';

type Given = NonNullable<CreateTask['checks']>;
type Kept = NonNullable<Project['checks']>;

/** A line of the form. The name may be empty: it is made of the command. */
export interface CheckLine {
  id: string;
  name: string;
  command: string;
  /** Of one that is kept already: what the form does not ask for, and patterns of its own. */
  more?: Omit<Kept[number], 'name' | 'command'>;
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

/** Those lines that are sent; the service says what is wrong with one. */
export const filledIn = (lines: readonly CheckLine[]): CheckLine[] =>
  lines.filter(({ name, command }) => name.trim() !== '' || command.trim() !== '');

/** The names by which the lines are sent. */
export function namesOf(lines: readonly CheckLine[]): string[] {
  const taken = new Set(lines.map(({ name }) => name.trim()));
  return lines.map(({ name, command }) => {
    const made = name.trim() || checkName(command, taken);
    taken.add(made);
    return made;
  });
}

export function checksIn({ lines, protect }: Pick<ChecksDraft, 'lines' | 'protect'>): Given {
  const filled = filledIn(lines);
  const names = namesOf(filled);
  return filled.map(({ command, more }, n) => {
    const paths = [...new Set([...protect, ...(more?.protect ?? [])])];
    return {
      name: names[n] ?? '',
      command,
      ...more,
      ...((more !== undefined || paths.length > 0) && { protect: paths }),
    };
  });
}

/** Those that a project, an automation or an environment has for its tasks. */
export interface DefaultsDraft extends ChecksDraft {
  /** `inherited`: it says nothing of them. `none`: its tasks have none. */
  of: 'inherited' | 'none' | 'own';
}

export const NO_DEFAULTS: DefaultsDraft = { ...NO_CHECKS, of: 'inherited' };

export function defaultsDraftOf({ checks, maxRepairs }: Pick<Project, 'checks' | 'maxRepairs'>): DefaultsDraft {
  const kept = checks ?? [];
  // What all of them have stands in the one field, the rest with its check.
  const protect = (kept[0]?.protect ?? []).filter((path) => kept.every((one) => one.protect.includes(path)));
  return {
    of: checks === null ? 'inherited' : kept.length === 0 ? 'none' : 'own',
    lines: kept.map(({ name, command, ...more }) => ({
      ...{ id: name, name, command },
      more: { ...more, protect: more.protect.filter((path) => !protect.includes(path)) },
    })),
    protect,
    maxRepairs: maxRepairs === null ? '' : String(maxRepairs),
  };
}

/** Null is none of its own, `[]` none at all. */
export function defaultsIn(draft: DefaultsDraft): { checks: Given | null; maxRepairs: number | null } {
  const { of, maxRepairs } = draft;
  const repairs = maxRepairs.trim();
  return {
    checks: of === 'inherited' ? null : of === 'none' ? [] : checksIn(draft),
    // JSON has no NaN and would say null, which is the default: the service refuses the text.
    maxRepairs: repairs === '' ? null : Number.isFinite(Number(repairs)) ? Number(repairs) : (repairs as never),
  };
}
