// What reads and writes repositories of one host for a workspace: an entry of the operator, or a connection of the workspace.
import type { Hosting } from '../../platform/config/repositories.js';
import type { Sql } from '../../platform/database/sql.js';

/** What a workspace may use of one host: an operator's entry, or a connection of the workspace (reference §15). */
export interface RepositoryAccess {
  /** Null for the operator's. */
  connectionId: string | null;
  /** How people know it: who the credential is at the host, else the host; null for the operator's. */
  name: string | null;
  /** `github.com`, or with a port. */
  host: string;
  /** Null where neither lists nor pull requests are known of the host. */
  hosting: Hosting | null;
  /** Patterns of paths of repositories, without `.git`. */
  paths: readonly string[];
  /** Patterns of branches that may be written. */
  push: readonly string[];
  /** A file of certificates that the host is checked against; null for the system's. */
  caFile: string | null;
  /**
   * A token for one repository (an App's is made for it alone), or with null for lists. Rejects with `RepositoryError` when the host
   * makes none, and with the reason of the signal.
   */
  token(path: string | null, signal: AbortSignal): Promise<string>;
  /** The host has taken the token. */
  accepted(): Promise<void>;
  /** The host has refused the token (401). Resolves with whether to try once more: {@link token} makes a new one then. */
  refused(): Promise<boolean>;
}

/**
 * The connections of a workspace, oldest first. A request that writes gives its transaction, a request that reads the pool for it, a worker null.
 */
export type ConnectionsOf = (sql: Sql | null, workspaceSlug: string) => Promise<RepositoryAccess[]>;

/** Whether one of the patterns is that of a path or of a branch. */
export function allows(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matches(pattern, path));
}

/**
 * `*` stands for any characters but a slash, `**` for any characters. One step for each character, whatever the pattern: tenants write
 * some, and a regular expression of many stars would take hours.
 */
function matches(pattern: string, path: string): boolean {
  const pieces = pattern.match(/\*+|[^*]/g) ?? [];
  const star = (at: number) => pieces[at]?.startsWith('*') === true;
  // The places in the pattern that may come next. A star may stand for nothing.
  const places = (found: Iterable<number>) => {
    const all = new Set(found);
    for (const at of all) if (star(at)) all.add(at + 1);
    return all;
  };
  let open = places([0]);
  for (const character of path.split('')) {
    const next = [...open].flatMap((at) => {
      if (star(at)) return pieces[at] === '*' && character === '/' ? [] : [at];
      return pieces[at] === character ? [at + 1] : [];
    });
    open = places(next);
  }
  return open.has(pieces.length);
}
