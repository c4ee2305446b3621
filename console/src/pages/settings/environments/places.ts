// Where environments stand in the console.
export const LIST = '/settings?part=environments';
export const NEW = `${LIST}&do=new`;
/** `version`: an older one; without it the newest. */
export const hrefOf = (slug: string, version?: number): string =>
  `${LIST}&environment=${encodeURIComponent(slug)}${version === undefined ? '' : `&version=${version}`}`;
export const editOf = (slug: string): string => `${hrefOf(slug)}&do=edit`;
