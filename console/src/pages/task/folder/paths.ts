// Paths as the service has them: relative to `/workdir`, or absolute in the home and in `/tmp`.

/** What a snapshot holds, by where it is for the agent. */
export const ROOTS = ['/workdir', '/home/agent', '/tmp'] as const;

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The folder in which something lies; null of a root. */
export function parentOf(path: string): string | null {
  if (path === '' || ROOTS.some((root) => root === path)) return null;
  const at = path.lastIndexOf('/');
  return at <= 0 ? '/workdir' : path.slice(0, at);
}

/** The folders that lead to a path, and that of `/workdir`. */
export function foldersOf(path: string): string[] {
  const above = parentOf(path);
  return above === null ? [path === '' ? '/workdir' : path, '/workdir'] : [...foldersOf(above), above];
}
