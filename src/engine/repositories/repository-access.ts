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
  /** Another one when the credential is another; it says nothing of it. */
  credential: string;
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

/** The value of a workspace's secret that is the token for a host. */
export interface SecretToken {
  token: string;
  /** Another one when the value is another; it says nothing of it. */
  version: string;
  /** The host has taken it. */
  used(): Promise<void>;
}

/**
 * The secret of a workspace by its name, when it is bound to the host; else null. The transaction or pool is as of {@link ConnectionsOf}.
 */
export type SecretTokenOf = (
  sql: Sql | null,
  workspaceSlug: string,
  name: string,
  url: URL,
) => Promise<SecretToken | null>;

/** GitLab takes 255 characters, GitHub 140, and git(1) 250 of a branch. */
const LONGEST_PATH = 512;
const [STAR, STARS, SLASH] = [-1, -2, 0x2f];

/** Whether one of the patterns is that of a path or of a branch. */
export function allows(patterns: readonly string[], path: string): boolean {
  return path.length <= LONGEST_PATH && patterns.some((pattern) => matches(pattern, path));
}

/**
 * `*` stands for any characters but a slash, `**` for any characters. Tenants write patterns, and a regular expression of many stars would
 * take hours. This takes at most as many steps as the path has characters, times those of the pattern.
 */
function matches(pattern: string, path: string): boolean {
  const [fixed = ''] = pattern.split('*', 1);
  if (!path.startsWith(fixed)) return false;
  // UTF-16 units; a star is one that no text has.
  const pieces = (pattern.slice(fixed.length).match(/\*+|[^*]/g) ?? []).map((piece) =>
    piece.startsWith('*') ? (piece === '*' ? STAR : STARS) : piece.charCodeAt(0),
  );
  const end = pieces.length;
  // A place in the pattern is open when all before it stands for what was read. A star may stand for nothing.
  let [open, next] = [new Uint8Array(end + 1), new Uint8Array(end + 1)];
  open[0] = 1;
  if (end > 0 && (pieces[0] as number) < 0) open[1] = 1;
  for (let read = fixed.length; read < path.length; read++) {
    const unit = path.charCodeAt(read);
    next.fill(0);
    for (let at = 0; at < end; at++) {
      const piece = pieces[at] as number;
      if (piece < 0) {
        if (open[at] === 1 && (piece === STARS || unit !== SLASH)) next[at] = 1;
        if (next[at] === 1) next[at + 1] = 1;
      } else if (piece === unit && open[at] === 1) next[at + 1] = 1;
    }
    [open, next] = [next, open];
  }
  return open[end] === 1;
}
