// Where agents stand in the console.
export const LIST = '/agents';
export const NEW = '/agents/new';
/** `version`: an older one; without it the newest. */
export const hrefOf = (slug: string, version?: number): string =>
  `/agents/${encodeURIComponent(slug)}${version === undefined ? '' : `?version=${version}`}`;
export const editOf = (slug: string): string => `/agents/${encodeURIComponent(slug)}/edit`;
/** A new task with it. */
export const tryOf = (slug: string): string => `/new?agent=${encodeURIComponent(slug)}`;
/** Its versions on the same work: a new evaluation, and one that there is. */
export const evaluateOf = (slug: string): string => `/agents/${encodeURIComponent(slug)}/evaluate`;
export const evaluationOf = (slug: string, id: string): string =>
  `/agents/${encodeURIComponent(slug)}/evaluations/${encodeURIComponent(id)}`;
